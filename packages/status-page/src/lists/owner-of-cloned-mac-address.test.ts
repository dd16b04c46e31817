import { findAddressClaims } from '@vmdhcp/explain';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { keyOf } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { MachineNames } from './machine-names.js';

const MAC = '02:00:00:00:00:01';

function config(key: string, created: string, state: 'Allocated' | 'Pending'): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/');
  const entry = { networkName: 'shop/net', macAddress: MAC };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace, name, creationTimestamp: created },
    spec: { vmName: name, networkConfigs: [entry] },
    status: { networkConfigs: [{ ...entry, state, ...(state === 'Allocated' && { allocatedIPAddress: '10.0.0.10' }) }] },
  } as KubernetesObject;
}

// The controller keeps the address of shop/web: "a claim whose record has the recorded address wins over an older one" (pool-planning.test.ts).
const WEB = config('shop/web', '2026-02-01T00:00:00Z', 'Allocated');
/** Created before, it was given an interface with the MAC address of shop/web later. */
const TRAP = config('tenant/trap', '2026-01-01T00:00:00Z', 'Pending');

it('a virtual machine that is older, and was given the MAC address of another one later, does not appear as its owner', () => {
  const objects = new Map([TRAP, WEB].map((one) => [keyOf(one), one]));
  const names = new MachineNames({ synced: true, get: (key) => objects.get(key), values: () => objects.values() });
  const client = { macAddress: MAC as never, network: 'shop/net', address: '10.0.0.10' };
  // What `kubectl vmdhcp why 10.0.0.10` says of the same objects.
  expect(findAddressClaims([TRAP, WEB], client)[0]?.config.metadata.name).toBe('web');
  expect(names.find('shop/net', MAC as never)).toBe('shop/web');
});
