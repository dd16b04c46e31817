/** Which networks an IPPool may serve: those of its own namespace, and those whose owner allows it. */
import { ALLOWED_POOL_NAMESPACES_ANNOTATION, IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

type Metadata = Partial<KubernetesObject['metadata']>;

/** Network `tenant/net-1`. */
function tenantNetwork(metadata: Metadata = {}): KubernetesObject {
  const object = network();
  return { ...object, metadata: { ...object.metadata, namespace: 'tenant', ...metadata } };
}

function inNamespace(namespace: string, object: KubernetesObject): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

const allowed = (namespaces: string) => ({ annotations: { [ALLOWED_POOL_NAMESPACES_ANNOTATION]: namespaces } });
const labelled = (namespace: string, name: string) => ({
  labels: { [IPPOOL_NAMESPACE_LABEL]: namespace, [IPPOOL_NAME_LABEL]: name },
});
/** `default/pool-1`, in another namespace than its network `tenant/net-1`. */
const foreignPool = () => pool('pool-1', { network: 'tenant/net-1' });
const tenantMachine = () => virtualMachine('vm-a', { interfaces: { nic: ['02:00:00:00:00:0a', 'tenant/net-1'] } });

async function running(...objects: readonly KubernetesObject[]): Promise<Running> {
  const story = new Running();
  await story.add(...objects);
  return story.started();
}

function changeNetwork({ cluster }: Running, metadata: Metadata): void {
  const stored = cluster.networks.objects.get('tenant/net-1');
  if (stored === undefined) throw new Error('there is no network');
  cluster.networks.put({ ...stored, metadata: { ...stored.metadata, ...metadata } });
}

const labelsOf = ({ cluster }: Running) => cluster.networks.objects.get('tenant/net-1')?.metadata.labels ?? {};
const cacheReady = (story: Running) =>
  story.conditions('IPPool', 'pool-1').find((condition) => condition.startsWith('CacheReady'));

describe('an IPPool that names a network of another namespace', () => {
  it('is not served, reports that with a remedy, and its network gets no labels', async () => {
    const story = await running(tenantNetwork(), foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
    const [condition] = [...story.cluster.ipPools.objects.values()].flatMap(({ status }) =>
      (status as { conditions: { type: string; message: string }[] }).conditions.filter(({ type }) => type === 'CacheReady'),
    );
    expect(condition?.message).toBe(
      'network tenant/net-1 belongs to namespace tenant, which does not allow IPPools of namespace default; add "default" to the annotation network.harvesterhci.io/allowed-pool-namespaces of NetworkAttachmentDefinition tenant/net-1 (names with commas, or *), or create the IPPool in namespace tenant',
    );
    expect(story.events()).toContain('NetworkNotAllowed on IPPool pool-1');
    expect(story.events()).toContain('NoPool on VirtualMachine vm-a');
    expect(story.allocated()).toEqual({});
    expect(labelsOf(story)).toEqual({});
    expect(story.controller.view.servingPool('tenant/net-1')).toBeUndefined();
  });

  it('never takes the network from a pool of the network’s own namespace, however old it is', async () => {
    const rightful = inNamespace('tenant', pool('pool-1', { network: 'net-1' }));
    const story = await running(tenantNetwork(), foreignPool(), rightful, tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
    expect(story.controller.view.servingPool('tenant/net-1')?.key).toBe('tenant/pool-1');
    expect(story.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    expect(story.events().filter((event) => event.startsWith('NetworkTaken'))).toEqual([]);
    expect(labelsOf(story)).toEqual({ [IPPOOL_NAMESPACE_LABEL]: 'tenant', [IPPOOL_NAME_LABEL]: 'pool-1' });
  });

  it.each(['default', '*', 'other, default', ' default ,other'])('is served when the annotation is %j', async (namespaces) => {
    const story = await running(tenantNetwork(allowed(namespaces)), foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=True');
    expect(story.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it.each(['', 'other', 'default-2', 'def*', ','])('is not served when the annotation is %j', async (namespaces) => {
    const story = await running(tenantNetwork(allowed(namespaces)), foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
  });

  it('is served if upstream’s controller wrote labels for exactly this pool', async () => {
    const story = await running(tenantNetwork(labelled('default', 'pool-1')), foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=True');
    expect(labelsOf(story)).toEqual(labelled('default', 'pool-1').labels);
  });

  it.each([
    ['another pool of its namespace', labelled('default', 'pool-2')],
    ['a pool of its name in another namespace', labelled('other', 'pool-1')],
    ['it, while the annotation names others', { ...labelled('default', 'pool-1'), ...allowed('other') }],
  ])('is not served by labels that name %s', async (_, metadata) => {
    const story = await running(tenantNetwork(metadata), foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
  });

  it('is not served while the network does not exist, because its owner cannot have allowed it', async () => {
    const story = await running(foreignPool(), tenantMachine());
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
    const messages = [...story.cluster.events.objects.values()].map(({ message }) => message);
    expect(messages).toContainEqual(
      expect.stringMatching(/^network tenant\/net-1 does not exist, or this controller does not read namespace tenant, /),
    );
    await story.add(tenantNetwork(allowed('default')));
    await story.settle();
    expect(cacheReady(story)).toBe('CacheReady=True');
  });

  it('follows the annotation: allowed, refused, allowed again with the same addresses', async () => {
    const story = await running(tenantNetwork(), foreignPool(), tenantMachine());
    changeNetwork(story, allowed('default'));
    await story.settle();
    expect(story.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    expect(labelsOf(story), 'a label would outlast the permission').toEqual({});
    changeNetwork(story, { annotations: {} });
    await story.settle();
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
    expect(story.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=False NoPool');
    expect(story.allocated(), 'what is recorded stays').toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    changeNetwork(story, allowed('default'));
    await story.settle();
    expect(story.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    expect(story.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('an older pool than the owner’s IPPool is no longer served when the owner follows the message', async () => {
    const rightful = inNamespace('tenant', pool('pool-2', { network: 'net-1' }));
    const story = await running(tenantNetwork(labelled('default', 'pool-1')), foreignPool(), rightful, tenantMachine());
    expect(story.controller.view.servingPool('tenant/net-1')?.key).toBe('default/pool-1');
    expect([...story.cluster.events.objects.values()].map(({ message }) => message)).toEqual([
      'network tenant/net-1 is served by the older IPPool default/pool-1 already, as the network allows namespace default; to have this IPPool serve it, set the annotation network.harvesterhci.io/allowed-pool-namespaces of NetworkAttachmentDefinition tenant/net-1 to the namespaces that are allowed without "default", or to "" for none',
    ]);
    changeNetwork(story, allowed(''));
    await story.settle();
    expect(story.controller.view.servingPool('tenant/net-1')?.key).toBe('tenant/pool-2');
    expect(cacheReady(story)).toBe('CacheReady=False NetworkNotAllowed');
    expect(story.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
  });
});
