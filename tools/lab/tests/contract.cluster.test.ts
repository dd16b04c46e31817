import { LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api';

/** The adapter for a real API passes what the one in memory passes, over HTTPS. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiLeaseStore, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { LEASE_STORE_CONTRACT, OBJECT_CLIENT_CONTRACT, SCALE_CONTRACT } from '@vmdhcp/kube-runtime/testing';
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { TestCluster, waitFor } from '../src/index.js';

let cluster: TestCluster;
let lastLease = 0;
/** Moves on at each look: a Lease that is renewed twice within a millisecond has not changed for the API server. */
let wallTimeMs = Date.now();

beforeAll(async () => {
  cluster = await TestCluster.open({ admission: 'off' });
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

describe('objects of a cluster-scoped kind of an API', () => {
  const kinds = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false };
  const [group, plural] = ['contract.vmdhcp.test', 'things'];
  const client = () =>
    new ApiObjectClient<KubernetesObject>(cluster.access.connection, { group, version: 'v1', plural, namespaced: false });
  const definitions = () => new ApiObjectClient<KubernetesObject>(cluster.access.connection, kinds);

  beforeAll(async () => {
    const fields = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: fields, status: fields } } };
    await definitions().create({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { kind: 'Thing', plural, singular: 'thing', listKind: 'ThingList' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
      },
    });
    await waitFor(
      'the kind to be served',
      async () =>
        (await client()
          .list({ limit: 1 })
          .catch(() => undefined)) !== undefined,
    );
  });

  afterAll(async () => {
    const definition = await definitions().get(`${plural}.${group}`);
    await definitions().delete(`${plural}.${group}`, definition?.metadata.uid ?? '');
  });

  afterEach(async () => {
    for (const { metadata } of (await client().list({ limit: 100 })).items)
      await client().delete(metadata.name, metadata.uid ?? '');
  });

  it.each(OBJECT_CLIENT_CONTRACT)('$name', async ({ check }) => {
    await check({
      client: client(),
      object: (name, text = 'some') => ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name }, spec: { text } }),
      specPatch: (text) => ({ spec: { text } }),
      status: { ready: true },
      wait: (answer) => answer,
      until: async (what, look) => void (await waitFor(what, look)),
    });
  });
});

describe('the scale of a Deployment of an API', () => {
  const client = () =>
    new ApiObjectClient<KubernetesObject>(cluster.access.connection, { ...Resource.deployments, namespace: cluster.namespace });

  afterEach(async () => {
    const deployment = await client().get(`${cluster.namespace}/a`);
    if (deployment !== undefined) await client().delete(`${cluster.namespace}/a`, deployment.metadata.uid ?? '');
  });

  it.each(SCALE_CONTRACT)('$name', async ({ check }) => {
    const labels = { app: 'contract' };
    const pod = { containers: [{ name: 'a', image: 'example.com/none' }] };
    await check({
      client: client(),
      object: (name, replicas) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { namespace: cluster.namespace, name },
        spec: { replicas, paused: true, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: pod } },
      }),
      wait: (answer) => answer,
    });
  });
});

describe('a Lease of an API', () => {
  it.each(LEASE_STORE_CONTRACT)('$name', async ({ check }) => {
    const name = `contract-${++lastLease}`;
    const store = () =>
      new ApiLeaseStore(cluster.access.connection, {
        namespace: cluster.namespace,
        name,
        wallTimeMs: () => ++wallTimeMs,
        durationAnnotation: LEASE_DURATION_ANNOTATION,
      });
    await check({ one: store(), other: store(), wait: (answer) => answer });
  });
});
