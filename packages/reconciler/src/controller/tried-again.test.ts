import { virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import type { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { virtualMachineNamedBy } from '../virtual-machine/vm-name.js';
import { Running } from './controller-fixtures.js';

const conditionsOf = (running: Running, name: string) => running.conditions('VirtualMachineNetworkConfig', name);
const replace = <Name extends 'create' | 'patch' | 'patchStatus' | 'list' | 'watch'>(
  resource: MemoryResource<KubernetesObject>,
  name: Name,
  by: MemoryResource<KubernetesObject>[Name],
) => Object.assign(resource, { [name]: by });

it('a webhook (upstream has one) refuses a config until its pool exists: the machine is tried again then', async () => {
  const running = new Running();
  const { networkConfigs, networks } = running.cluster;
  const { create } = networkConfigs;
  replace(networkConfigs, 'create', async (object) => {
    const labels = networks.objects.get('default/net-1')?.metadata.labels ?? {};
    if ('network.harvesterhci.io/ippool-name' in labels) return create(object);
    await new Promise<void>((resolve) => running.clock.after(2, resolve));
    // HTTP 400 or 422, as webhooks answer.
    return { ok: false, reason: 'invalid', message: 'network.harvesterhci.io/ippool-namespace label not found' };
  });
  await running.add(network());
  await running.started();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  await running.add(pool());
  await running.settle(3_600_000);
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
});

it('the same at a start, if the machine comes before the labels that the controller itself is about to write', async () => {
  const running = new Running();
  const { networkConfigs, networks } = running.cluster;
  const { create } = networkConfigs;
  replace(networkConfigs, 'create', async (object) => {
    const labels = networks.objects.get('default/net-1')?.metadata.labels ?? {};
    if ('network.harvesterhci.io/ippool-name' in labels) return create(object);
    await new Promise<void>((resolve) => running.clock.after(2, resolve));
    return { ok: false, reason: 'invalid', message: 'network.harvesterhci.io/ippool-namespace label not found' };
  });
  await running.add(network(), pool(), virtualMachine('vm-a'));
  const { patch } = networks;
  replace(networks, 'patch', async (...args) => {
    await new Promise<void>((resolve) => running.clock.after(10, resolve));
    return patch(...args);
  });
  await running.started();
  await running.settle(3_600_000);
  expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
});

describe('nothing is tried continuously while a watch is down and writes work', () => {
  async function deafTo(kind: 'ipPools' | 'networkConfigs'): Promise<Running> {
    const running = await Running.withPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    const resource = running.cluster[kind];
    resource.failNext = Number.MAX_SAFE_INTEGER;
    resource.closeWatches('failed');
    return running;
  }

  it('a pool that another client touched', async () => {
    const running = await deafTo('ipPools');
    running.change('IPPool', 'pool-1', (one) => ({ ...one, metadata: { ...one.metadata, labels: { by: 'another' } } }));
    let tries = 0;
    running.cluster.ipPools.writeFault = () => {
      tries++;
      return 'none';
    };
    await running.add(virtualMachine('vm-b'));
    await running.settle(60_000);
    expect(tries, 'patches in a minute, all of them refused').toBeLessThan(60);
  });

  it('a config whose creation is not seen', async () => {
    const running = await deafTo('networkConfigs');
    running.cluster.networkConfigs.writeFault = (what) => (what === 'create' ? 'lost-answer' : 'none');
    await running.add(virtualMachine('vm-b'));
    await running.settle(200);
    let tries = 0;
    running.cluster.networkConfigs.writeFault = () => {
      tries++;
      return 'none';
    };
    await running.settle(60_000);
    expect(tries, 'requests in a minute').toBeLessThan(60);
  });

  it('configs cannot be created, because their CRD is gone (404)', async () => {
    const running = await Running.withPool();
    let tries = 0;
    replace(running.cluster.networkConfigs, 'create', async () => {
      tries++;
      await new Promise<void>((resolve) => running.clock.after(2, resolve));
      return { ok: false, reason: 'parent-not-found', message: 'the server could not find the requested resource' };
    });
    await running.add(virtualMachine('vm-a'));
    await running.settle(60_000);
    expect(tries).toBeLessThan(60);
  });
});

describe('an interface that the CRD refuses does not affect the others', () => {
  function withSchema(running: Running): Running {
    const { networkConfigs } = running.cluster;
    const { create, patch } = networkConfigs;
    const check = (object: KubernetesObject) => {
      const parsed = virtualMachineNetworkConfigResource.schema.safeParse({ spec: object.spec });
      const label = object.metadata.labels?.['harvesterhci.io/vmName'] ?? '';
      if (parsed.success && label.length <= 63) return undefined;
      return {
        ok: false as const,
        reason: 'invalid' as const,
        message: parsed.success ? 'label too long' : parsed.error.message,
      };
    };
    replace(networkConfigs, 'create', async (object) => check(object) ?? create(object));
    replace(networkConfigs, 'patch', async (target, change) => {
      const stored = networkConfigs.objects.get(target.key) as KubernetesObject;
      const spec = { ...(stored.spec as object), ...((change['spec'] as object | undefined) ?? {}) };
      return check({ ...stored, spec }) ?? patch(target, change);
    });
    return running;
  }

  it('a network whose namespace and name have more than 64 characters together', async () => {
    const running = withSchema(new Running());
    await running.add(network(), pool());
    await running.started();
    const long = `fleet-local-production-workloads/${'a'.repeat(40)}`;
    await running.add(
      virtualMachine('vm-a', { interfaces: { one: ['02:00:00:00:00:01', 'net-1'], two: ['02:00:00:00:00:02', long] } }),
    );
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:01' });
  });

  it('a virtual machine whose name is longer than the field for it: a hash stands for the rest', async () => {
    const name = `${'vm-'.repeat(80)}vm-a`;
    const running = withSchema(new Running());
    await running.add(network(), pool());
    await running.started();
    await running.add(virtualMachine(name));
    await running.settle();
    expect(Object.keys(running.allocated())).toHaveLength(1);
    const config = running.networkConfig(name);
    expect(config?.spec).toMatchObject({ vmName: expect.stringMatching(/^(vm-){18}v-[0-9a-f]{8}$/) as string });
    expect(config && virtualMachineNamedBy(config)).toBe(name);
  });

  it('a virtual machine whose name has 64 characters', async () => {
    const running = withSchema(new Running());
    await running.add(network(), pool());
    await running.started();
    await running.add(virtualMachine(`${'vm-'.repeat(20)}vm-a`));
    await running.settle();
    expect(Object.keys(running.allocated())).toHaveLength(1);
  });
});

it.each<[string, Record<string, unknown>]>([
  ['dns 0.0.0.0', { dns: ['0.0.0.0'] }],
  ['dns multicast', { dns: ['224.0.0.1'] }],
  ['domainName long', { domainName: `${'a.'.repeat(120)}example.com` }],
  ['domainName with underscore', { domainName: 'my_domain.local' }],
  ['domainName trailing dot', { domainName: 'example.com.' }],
  [
    'domainSearch long',
    {
      domainSearch: Array.from({ length: 60 }, (_, i) => `${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}${i}.example.com`),
    },
  ],
  ['domainSearch label', { domainSearch: ['-bad-.example.com'] }],
  ['ntp', { ntp: ['0.0.0.0'] }],
  ['leaseTime', { leaseTime: 9_999_999_999_999 }],
  ['leaseTime 1', { leaseTime: 1 }],
  ['mtu', { mtu: 99 }],
  ['routes gateway outside', { staticRoutes: [{ destination: '10.9.0.0/16', gateway: '192.168.7.7' }] }],
  ['routes host bits', { staticRoutes: [{ destination: '10.9.0.1/16', gateway: '10.0.0.1' }] }],
  ['routes gateway 0', { staticRoutes: [{ destination: '10.9.0.0/16', gateway: '0.0.0.0' }] }],
  ['nextServer', { nextServer: '0.0.0.0' }],
  ['bootfile', { bootfile: 'x'.repeat(300) }],
  ['bootfile empty', { bootfile: '' }],
  ['bootByArchitecture', { bootByArchitecture: [{ architecture: 7, bootfile: 'x'.repeat(300) }] }],
  [
    'bootByArchitecture twice',
    {
      bootByArchitecture: [
        { architecture: 7, bootfile: 'a' },
        { architecture: 7, bootfile: 'b' },
      ],
    },
  ],
  ['authoritative', { authoritative: 'yes' }],
])('an invalid optional setting is ignored: %s', async (_, ipv4Config) => {
  const running = await Running.withPool();
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  running.change('IPPool', 'pool-1', (one) => {
    const spec = one.spec as { ipv4Config: object };
    return { ...one, spec: { ...spec, ipv4Config: { ...spec.ipv4Config, ...ipv4Config } } };
  });
  await running.settle();
  const condition = (
    readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'conditions') as { type: string }[]
  ).find(({ type }) => type === 'CacheReady');
  expect(condition).toMatchObject({ status: 'True' });
});

it('a machine that has its address has no Event about the exhausted pool', async () => {
  const running = new Running();
  await running.add(network('net-1'), network('net-2'));
  await running.add(
    pool('pool-1', { end: '10.0.0.10' }),
    pool('pool-2', { network: 'default/net-2', start: '10.0.0.30', end: '10.0.0.30' }),
    virtualMachine('vm-x', { interfaces: { one: ['02:00:00:00:00:c1', 'net-2'] } }),
  );
  await running.started();
  const put = (name: string, interfaces: Record<string, [string, string]>) =>
    running.cluster.virtualMachines.put({
      ...virtualMachine(name, { interfaces }),
      metadata: { namespace: 'default', name, uid: name, generation: 1 },
    });
  put('vm-b', { one: ['02:00:00:00:00:b1', 'net-1'], two: ['02:00:00:00:00:b2', 'net-2'] });
  put('vm-c', { one: ['02:00:00:00:00:a1', 'net-1'] });
  await running.settle(600_000);
  expect(running.allocated('pool-1')).toEqual({ '10.0.0.10': '02:00:00:00:00:a1' });
  expect(conditionsOf(running, 'vm-c')).toContain('Allocated=True');
});
