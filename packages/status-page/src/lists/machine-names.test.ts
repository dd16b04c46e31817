import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { keyOf } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { MachineNames } from './machine-names.js';

const MAC = '02:00:00:00:00:01';

function config(namespace: string, name: string): KubernetesObject {
  const networkConfigs = [{ networkName: 'shop/net', macAddress: MAC }];
  const creationTimestamp = namespace === 'shop' ? '2026-01-01T00:00:00Z' : '2026-02-01T00:00:00Z';
  const metadata = { namespace, name, creationTimestamp };
  return { apiVersion: 'v1', kind: 'X', metadata, spec: { vmName: name, networkConfigs } } as KubernetesObject;
}

function setUp(...configs: readonly KubernetesObject[]) {
  const objects = new Map(configs.map((one) => [keyOf(one), one]));
  const names = new MachineNames({ synced: true, get: (key) => objects.get(key), values: () => objects.values() });
  const put = (object: KubernetesObject) => {
    objects.set(keyOf(object), object);
    names.note(keyOf(object));
  };
  const remove = (key: string) => {
    objects.delete(key);
    names.note(key);
  };
  return { find: () => names.find('shop/net', MAC as never), put, remove };
}

describe('names of virtual machines by their MAC addresses', () => {
  it('another config that claims the same MAC address does not change the name, neither when it is created nor when it is deleted', () => {
    const { find, put, remove } = setUp(config('shop', 'web'));
    expect(find()).toBe('shop/web');
    put(config('tenant', 'trap'));
    expect(find()).toBe('shop/web');
    remove('tenant/trap');
    expect(find()).toBe('shop/web');
    put(config('tenant', 'trap'));
    put(config('shop', 'web'));
    expect(find()).toBe('shop/web');
    remove('shop/web');
    expect(find()).toBe('tenant/trap');
    remove('tenant/trap');
    expect(find()).toBe('');
  });
});
