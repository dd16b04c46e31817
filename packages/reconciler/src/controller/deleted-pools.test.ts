/** A pool that is deleted leaves its addresses to configs: the next pool on the network finds them there. */
import { EXTERNAL_DHCP_ANNOTATION, IPPOOL_FINALIZER } from '@vmdhcp/ippool-api';
import { readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const [MAC_A, MAC_B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'];
const LONG_MS = 120_000;

/** Agents serve the pool, so it has a finalizer. @param more - finalizers of others. */
function hold(running: Running, name: string, ...more: readonly string[]): void {
  running.change('IPPool', name, (one) => ({ ...one, metadata: { ...one.metadata, finalizers: [IPPOOL_FINALIZER, ...more] } }));
}

/** Statuses of configs are lost, as if the controller died between its writes. */
function loseStatuses(running: Running, areLost: boolean): void {
  running.cluster.networkConfigs.writeFault = (what) => (areLost && what === 'patchStatus' ? 'lost-request' : 'none');
}

function annotateAsExternal(running: Running): void {
  running.change('NetworkAttachmentDefinition', 'net-1', (one) => ({
    ...one,
    metadata: { ...one.metadata, annotations: { [EXTERNAL_DHCP_ANNOTATION]: 'true' } },
  }));
}

const pools = (running: Running) => [...running.cluster.ipPools.objects.keys()];
const shown = (running: Running, name: string) =>
  readList(running.networkConfig(name)?.status, 'networkConfigs').map((entry) => readText(entry, 'allocatedIPAddress'));

async function withHeldPool(): Promise<Running> {
  const running = await Running.withPool();
  hold(running, 'pool-1');
  return running;
}

it('a controller died before it wrote them: machines keep their addresses in the next pool', async () => {
  const running = await withHeldPool();
  await running.add(virtualMachine('vm-b'));
  await running.settle();
  loseStatuses(running, true);
  await running.add(virtualMachine('vm-a'));
  await running.settle();
  const kept = { '10.0.0.11': MAC_A };
  expect(running.allocated()).toEqual({ '10.0.0.10': MAC_B, ...kept });
  await running.remove('VirtualMachine', 'vm-b');
  await running.remove('IPPool', 'pool-1');
  await running.settle(LONG_MS);
  expect(running.allocated()).toMatchObject(kept);
  loseStatuses(running, false);
  await running.settle(LONG_MS);
  expect(pools(running)).toEqual([]);
  await running.add(pool('pool-1'));
  await running.settle();
  expect(running.allocated()).toEqual(kept);
});

describe('a config keeps its own address if the pool records another one for its MAC address', () => {
  it.each(['02:00:00:00:00:0b', '02:00:00:00:00:1b'])(
    'it claimed the MAC address of another machine by mistake, and is corrected to %s',
    async (corrected) => {
      const running = await withHeldPool();
      await running.add(virtualMachine('vm-b'));
      await running.settle();
      await running.add(virtualMachine('vm-a'));
      await running.settle();
      const setMac = async (macAddress: string) => {
        const { spec } = virtualMachine('vm-b', { interfaces: { nic: [macAddress, 'net-1'] } });
        running.change('VirtualMachine', 'vm-b', (one) => ({ ...one, spec }));
        await running.settle(10_000);
      };
      await setMac(MAC_A);
      await running.remove('IPPool', 'pool-1');
      await running.settle(10_000);
      expect([shown(running, 'vm-a'), shown(running, 'vm-b')]).toEqual([['10.0.0.11'], ['10.0.0.10']]);
      await setMac(corrected);
      await running.add(pool('pool-1'));
      await running.settle(10_000);
      expect(running.allocated()).toEqual({ '10.0.0.10': corrected, '10.0.0.11': MAC_A });
    },
  );

  it('the record is of a pool that another client keeps, and that a later one has replaced', async () => {
    const running = await Running.withPool();
    hold(running, 'pool-1', 'example.com/backup');
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.remove('IPPool', 'pool-1');
    await running.settle(10_000);
    await running.add(pool('pool-2', { start: '10.0.0.100', end: '10.0.0.109' }));
    await running.settle();
    expect(shown(running, 'vm-a')).toEqual(['10.0.0.100']);
    hold(running, 'pool-2');
    await running.remove('IPPool', 'pool-2');
    await running.settle(LONG_MS);
    expect([pools(running), shown(running, 'vm-a')]).toEqual([['default/pool-1'], ['10.0.0.100']]);
  });
});

describe('the pool is gone soon', () => {
  it('although two machines claim one MAC address, on a network that another DHCP server takes over', async () => {
    const running = await withHeldPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.add(virtualMachine('vm-b', { interfaces: { nic: [MAC_A, 'net-1'] } }));
    annotateAsExternal(running);
    await running.settle();
    await running.remove('IPPool', 'pool-1');
    await running.settle(LONG_MS);
    expect([pools(running), shown(running, 'vm-a')]).toEqual([[], ['10.0.0.10']]);
  });

  it('and a config shows its address, although another DHCP server takes over', async () => {
    const running = await withHeldPool();
    loseStatuses(running, true);
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    annotateAsExternal(running);
    await running.remove('IPPool', 'pool-1');
    loseStatuses(running, false);
    await running.settle(LONG_MS);
    expect([pools(running), shown(running, 'vm-a')]).toEqual([[], ['10.0.0.10']]);
  });

  it('and a config shows its address, although its other interface waits for a pool that cannot be written', async () => {
    const running = new Running();
    const other = pool('pool-2', { network: 'default/net-2', start: '10.0.0.50', end: '10.0.0.59' });
    await running.add(network(), network('net-2'), pool('pool-1'), other);
    await running.started();
    hold(running, 'pool-1');
    const { ipPools } = running.cluster;
    const { patchStatus } = ipPools;
    Object.assign(ipPools, {
      patchStatus: ((target, patch) => {
        if (target.key !== 'default/pool-2') return patchStatus(target, patch);
        return Promise.resolve({ ok: false, reason: 'invalid', message: 'refused' });
      }) satisfies typeof patchStatus,
    });
    const interfaces = { n1: [MAC_A, 'net-1'], n2: [MAC_B, 'net-2'] } as const;
    await running.add(virtualMachine('vm-a', { interfaces }));
    await running.settle(20_000);
    await running.remove('IPPool', 'pool-1');
    await running.settle(LONG_MS);
    expect([pools(running), shown(running, 'vm-a')]).toEqual([['default/pool-2'], ['10.0.0.10', undefined]]);
  });

  it('although its record was edited, and has an address that no client may have', async () => {
    const running = await withHeldPool();
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    running.change('IPPool', 'pool-1', (one) => ({
      ...one,
      metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' },
      status: { ...(one.status as object), ipv4: { allocated: { '0.0.0.0': MAC_A } } },
    }));
    await running.settle(LONG_MS);
    expect([pools(running), shown(running, 'vm-a')]).toEqual([[], ['10.0.0.10']]);
  });

  it('after five minutes, although a config cannot be written', async () => {
    const running = await withHeldPool();
    running.hasWallClock = true;
    loseStatuses(running, true);
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    await running.remove('IPPool', 'pool-1');
    await running.settle(240_000);
    expect(pools(running)).toEqual(['default/pool-1']);
    await running.settle(LONG_MS);
    expect(pools(running)).toEqual([]);
  });
});
