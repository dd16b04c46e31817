/** Interfaces and networks where another server answers DHCP requests, or the agents reach nobody. */
import { readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const MAC = '02:00:00:00:00:0a';
const IPAM = { type: 'bridge', bridge: 'br1', ipam: { type: 'host-local' } };
const SUBNETS = { type: 'ovn-k8s-cni-overlay', topology: 'localnet', subnets: '10.0.0.0/24' };
const on = (config: object) => ({ ...network(), spec: { config: JSON.stringify(config) } });
const masquerade = virtualMachine('vm-a', { bindings: { nic: { masquerade: {} } } });
const cacheReady = (story: Running) => story.conditions('IPPool', 'pool-1').find((one) => one.startsWith('CacheReady'));
const messages = (story: Running) => [...story.cluster.events.objects.values()].map((one) => readField(one, 'message'));

async function storyOf(config: object): Promise<Running> {
  const story = new Running();
  await story.add(on(config), pool());
  return story.started();
}

function configure({ cluster }: Running, config: object): void {
  const stored = cluster.networks.objects.get('default/net-1');
  if (stored === undefined) throw new Error('there is no such network');
  cluster.networks.put({ ...stored, spec: on(config).spec });
}

describe('an interface with the binding masquerade', () => {
  it('gets no address, and an Event of its virtual machine says why', async () => {
    const story = await Running.withPool();
    await story.add(masquerade);
    await story.settle();
    expect([story.allocated(), story.networkConfig('vm-a')]).toEqual([{}, undefined]);
    expect(story.events()).toEqual(['BindingNotServed on VirtualMachine vm-a']);
  });

  it('keeps the address that an earlier version assigned, also after a restart of the controller', async () => {
    const story = await Running.withPool();
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    story.change('VirtualMachine', 'vm-a', (machine) => ({ ...machine, spec: masquerade.spec }));
    await story.settle(60_000);
    await story.restart();
    await story.settle(60_000);
    expect(story.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(messages(story)).toEqual([expect.stringContaining('and it keeps the address that it has')]);
  });

  it('keeps its address if somebody deletes its VirtualMachineNetworkConfig', async () => {
    const story = await Running.withPool();
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    story.change('VirtualMachine', 'vm-a', (machine) => ({ ...machine, spec: masquerade.spec }));
    await story.settle();
    await story.remove('VirtualMachineNetworkConfig', 'vm-a');
    await story.settle(60_000);
    expect(story.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(story.networkConfig('vm-a')).toBeDefined();
  });
});

describe('networks and their IPPools', () => {
  it('a network with ipam is served, and the IPPool warns until ipam is removed', async () => {
    const story = await storyOf(IPAM);
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect(story.allocated()).toEqual({ '10.0.0.10': MAC });
    expect(cacheReady(story)).toBe('CacheReady=True ServedTwice');
    expect(story.events()).toEqual(['ServedTwice on IPPool pool-1']);
    configure(story, { ...IPAM, ipam: {} });
    await story.settle();
    expect(cacheReady(story)).toBe('CacheReady=True');
  });

  it('a network of OVN-Kubernetes with subnets gets no addresses until subnets are removed', async () => {
    const story = await storyOf(SUBNETS);
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect([story.allocated(), cacheReady(story)]).toEqual([{}, 'CacheReady=True NetworkNotServed']);
    expect(story.events().toSorted()).toEqual(['NetworkNotServed on IPPool pool-1', 'NetworkNotServed on VirtualMachine vm-a']);
    const { subnets: _, ...withoutSubnets } = SUBNETS;
    configure(story, withoutSubnets);
    await story.settle();
    expect([story.allocated(), cacheReady(story)]).toEqual([{ '10.0.0.10': MAC }, 'CacheReady=True']);
  });

  it('a network that gets subnets takes no address away', async () => {
    const { subnets: _, ...withoutSubnets } = SUBNETS;
    const story = await storyOf(withoutSubnets);
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    configure(story, SUBNETS);
    await story.settle(60_000);
    expect(story.allocated()).toEqual({ '10.0.0.10': MAC });
  });

  it('a network of kube-ovn is served, and the condition says what to check, without an Event', async () => {
    const story = await storyOf({ type: 'kube-ovn' });
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect([story.allocated(), cacheReady(story)]).toEqual([{ '10.0.0.10': MAC }, 'CacheReady=True MayBeServedTwice']);
    expect(story.events()).toEqual([]);
  });
});
