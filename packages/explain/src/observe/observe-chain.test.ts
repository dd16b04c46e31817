import { type ApiResource, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { observeWay } from './observe-chain.js';

const NETWORK = 'default/net-1';

const network: KubernetesObject = {
  apiVersion: 'k8s.cni.cncf.io/v1',
  kind: 'NetworkAttachmentDefinition',
  metadata: { namespace: 'default', name: 'net-1' },
};

const machine: KubernetesObject = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachine',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    template: {
      spec: {
        domain: { devices: { interfaces: [{ name: 'nic', bridge: {}, macAddress: '02:00:00:00:00:0a' }] } },
        networks: [{ name: 'nic', multus: { networkName: NETWORK } }],
      },
    },
  },
};

function pool(key: string, { month, isUsed }: { readonly month: string; readonly isUsed: boolean }): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/', 2);
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace, name, creationTimestamp: `2026-${month}-01T00:00:00Z` },
    spec: { networkName: NETWORK },
    status: { conditions: [{ type: 'CacheReady', status: isUsed ? 'True' : 'False' }] },
  };
}

/** @param refused - the namespaces in which IPPools may not be listed; an empty text: all namespaces together. */
function clusterWith(pools: readonly KubernetesObject[], refused: readonly string[] = []) {
  const byPlural = new Map([
    ['network-attachment-definitions', [network]],
    ['virtualmachines', [machine]],
    ['ippools', pools],
  ]);
  return {
    nowMs: 0,
    get: async (resource: ApiResource, key: string) => {
      const object = byPlural.get(resource.plural)?.find((one) => keyOf(one) === key);
      return object === undefined ? ({ kind: 'missing' } as const) : ({ kind: 'found', object } as const);
    },
    list: async (resource: ApiResource) => {
      const { group, plural, namespace = '' } = resource;
      if (refused.includes(namespace))
        return { kind: 'refused', right: { verb: 'list', group, resource: plural, namespace } } as const;
      const all = byPlural.get(plural) ?? [];
      const listed = all.filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
      return { kind: 'found', objects: listed } as const;
    },
  };
}

async function poolOf(...cluster: Parameters<typeof clusterWith>): Promise<string> {
  const { pools } = await observeWay(clusterWith(...cluster), { namespace: 'default', name: 'web' });
  const observed = pools.get(NETWORK)?.pool;
  return observed?.kind === 'found' ? keyOf(observed.object) : (observed?.kind ?? 'none');
}

const own = pool('default/own', { month: '02', isUsed: false });
const older = pool('tenant/foreign', { month: '01', isUsed: false });
const serving = pool('tenant/foreign', { month: '03', isUsed: true });

it.each<[string, Parameters<typeof clusterWith>, string]>([
  ['its own, not an older one of a tenant that does not serve it', [[own, older]], 'default/own'],
  ['that of another namespace, where that one serves it', [[own, serving]], 'tenant/foreign'],
  ['that of another namespace, where its own namespace has none', [[older]], 'tenant/foreign'],
  ['its own, where no others may be listed', [[own, serving], ['']], 'default/own'],
  ['none, where its own namespace has none and no others may be listed', [[serving], ['']], 'missing'],
  ['not known, where none may be listed', [[own], ['', 'default']], 'refused'],
])('the pool of a network that names none is %s', async (_name, cluster, expected) => {
  expect(await poolOf(...cluster)).toBe(expected);
});
