/** The adapter for a real API passes what the one in memory passes, over HTTPS. */

import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiLeaseStore, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { LEASE_STORE_CONTRACT, OBJECT_CLIENT_CONTRACT } from '@vmdhcp/kube-runtime/testing';
import { Resource } from '@vmdhcp/reconciler';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { TestCluster, waitFor } from '../src/index.js';

let cluster: TestCluster;
let lastLease = 0;

beforeAll(async () => {
  cluster = await TestCluster.open();
  // It applies our kinds.
  const controller = await cluster.startController('--no-agent');
  await controller.stop();
});

afterAll(() => cluster.close());

describe('objects of an API', () => {
  const client = () =>
    new ApiObjectClient<KubernetesObject>(cluster.access.connection, {
      ...Resource.networkConfigs,
      namespace: cluster.namespace,
    });

  afterEach(async () => {
    for (const { metadata } of (await client().list({ limit: 100 })).items) {
      await client().delete(`${metadata.namespace}/${metadata.name}`, metadata.uid ?? '');
    }
  });

  it.each(OBJECT_CLIENT_CONTRACT)('$name', async ({ check }) => {
    const networkConfigs = (text: string) => [{ macAddress: '02:00:00:00:00:01', networkName: `default/${text}` }];
    await check({
      client: client(),
      object: (name, text = 'some') => ({
        apiVersion: 'network.harvesterhci.io/v1alpha1',
        kind: 'VirtualMachineNetworkConfig',
        metadata: { namespace: cluster.namespace, name },
        spec: { networkConfigs: networkConfigs(text), vmName: 'vm' },
      }),
      specPatch: (text) => ({ spec: { networkConfigs: networkConfigs(text) } }),
      status: { conditions: [{ status: 'True', type: 'Allocated' }] },
      wait: (answer) => answer,
      until: async (what, look) => void (await waitFor(what, look)),
    });
  });
});

describe('a Lease of an API', () => {
  it.each(LEASE_STORE_CONTRACT)('$name', async ({ check }) => {
    const name = `contract-${++lastLease}`;
    const store = () =>
      new ApiLeaseStore(cluster.access.connection, { namespace: cluster.namespace, name, wallTimeMs: Date.now });
    await check({ one: store(), other: store(), wait: (answer) => answer });
  });
});
