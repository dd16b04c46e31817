import type { InterfaceState } from '@vmdhcp/dhcp-agent/packet-path';
import { ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { ConfiguredPool, PoolsFile } from '../pools-file/parse-pools-file.js';
import type { HostAddresses } from './host-addresses.js';
import { HostInterfaces, type InterfaceParts } from './host-interfaces.js';

function poolOf(name: string, network: number) {
  const checked = validatePool({ name, cidr: `10.0.${network}.0/24`, serverAddress: `10.0.${network}.1` });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

const NET_0 = poolOf('net-0', 0);
const NET_1 = poolOf('net-1', 1);

function fileOf(...pools: readonly (readonly [string, Partial<ConfiguredPool>])[]): PoolsFile {
  return {
    pools: new Map(pools.map(([name, pool]) => [name, { paused: false, ...pool } as ConfiguredPool])),
    ntpNames: new Set(),
  };
}

/** `eth1` serves both pools, `eth2` the second; a test sets the states, and reads the events in the log. */
function interfaces({ configures = true, present = [] as number[] } = {}) {
  const log: string[] = [];
  const states = new Map<string, InterfaceState>();
  const parts = new Map<string, InterfaceParts>();
  const server = new Map([NET_0, NET_1].map((pool) => [pool.name, new ServedPool(pool)]));
  const host: HostAddresses = {
    indexOf: (name) => (name === 'eth1' ? 5 : 6),
    list: (interfaceIndex) =>
      present.map((address) => ({ interfaceIndex, address, prefixLength: 24, validSeconds: Number.POSITIVE_INFINITY })),
    add: ({ interfaceIndex, address }) => log.push(`add ${interfaceIndex} 10.0.${(address >> 8) & 255}.1`) > 0,
    prolong: () => undefined,
    remove: () => true,
    nowMs: () => 0,
  };
  const made = new HostInterfaces({
    logger: {
      info: () => undefined,
      warn: ({ pool }: { pool: string }, message: string) => void log.push(`${pool}: ${message.split(':')[0]}`),
      error: (_: unknown, message: string) => void log.push(message),
    } as never,
    host,
    server: { poolsNamed: (names) => names.flatMap((name) => server.get(name) ?? []) },
    poolsOfInterface: new Map([
      ['eth1', ['net-0', 'net-1']],
      ['eth2', ['net-1']],
    ]),
    configuresInterfaces: configures,
    open: (opened) => {
      parts.set(opened.name, opened);
      return {
        get state() {
          return states.get(opened.name) ?? { kind: 'opening' };
        },
        ipv6Problem: opened.name === 'eth2' ? 'IPv6 is not served: EPERM' : undefined,
        check: async () => void log.push(`check ${opened.name}`),
        stop: () => void log.push(`stop ${opened.name}`),
        inject: (packet) => void log.push(`inject ${opened.name} ${packet.length}`),
        send: (replies) => void log.push(`send ${opened.name} ${replies.length}`),
      };
    },
  });
  return { made, log, states, parts, server, host };
}

describe('the interfaces of a bare host', () => {
  it('are named where IPv6 is not served', () => {
    expect(interfaces().made.ipv6Problems()).toEqual(['interface eth2: IPv6 is not served: EPERM']);
  });

  it('have the current pools of the server, in order', () => {
    const { made, parts, server } = interfaces();
    const namesOn = (name: string) =>
      parts
        .get(name)
        ?.pools()
        .map(({ pool }) => pool.name);
    expect(namesOn('eth1')).toEqual([]);
    made.onPoolsChanged();
    expect([namesOn('eth1'), namesOn('eth2')]).toEqual([['net-0', 'net-1'], ['net-1']]);
    server.delete('net-1');
    made.onPoolsChanged();
    expect([namesOn('eth1'), namesOn('eth2')]).toEqual([['net-0'], []]);
    expect(made.interfacesOf).toEqual(
      new Map([
        ['net-0', ['eth1']],
        ['net-1', ['eth1', 'eth2']],
      ]),
    );
  });

  it('are all checked and stopped; a packet is injected only into its own', async () => {
    const { made, log } = interfaces();
    await made.check();
    made.inject('eth2', Uint8Array.of(1, 2, 3));
    made.inject('eth9', Uint8Array.of(1));
    made.send('eth1', []);
    made.stop();
    expect(log).toEqual(['check eth1', 'check eth2', 'inject eth2 3', 'send eth1 0', 'stop eth1', 'stop eth2']);
  });

  it('get their server addresses before they are opened, if the agent may add them', async () => {
    const { made, parts, log } = interfaces();
    made.onPoolsChanged();
    await parts.get('eth1')?.prepare();
    expect(log).toEqual(['add 5 10.0.0.1', 'add 5 10.0.1.1']);
  });

  it('that lack a server address are listed, if the agent may not add it', async () => {
    const { made, parts, log } = interfaces({ configures: false, present: [NET_1.serverAddress] });
    made.onPoolsChanged();
    await parts.get('eth1')?.prepare();
    expect(log).toEqual(['net-0: the interface does not have the server address']);
    made.keepAddresses();
    expect(log).toHaveLength(1);
  });

  it('get the addresses of new pools while they are served; a failure on one does not stop the others', () => {
    const { made, log, states, host } = interfaces();
    made.onPoolsChanged();
    made.prepareServed();
    made.keepAddresses();
    expect(log).toEqual([]);
    states.set('eth1', { kind: 'serving' });
    states.set('eth2', { kind: 'serving' });
    const { add } = host;
    Object.assign(host, {
      add: (address: Parameters<typeof add>[0], seconds: number) => {
        if (address.interfaceIndex === 5) throw new Error('EPERM');
        return add(address, seconds);
      },
    });
    made.prepareServed();
    expect(log).toEqual(['interface could not be configured', 'add 6 10.0.1.1']);
  });
});

describe('which pools are not served', () => {
  const both = fileOf(['net-0', {}], ['net-1', {}]);
  const planned = new Set(['net-0', 'net-1']);

  function unserved(eth1: InterfaceState, eth2: InterfaceState, file = both, recorded = planned): string[] {
    const { made, states } = interfaces();
    states.set('eth1', eth1);
    states.set('eth2', eth2);
    return made.unserved(file, recorded).map(({ pool, reason }) => `${pool}: ${reason}`);
  }

  const SERVING = { kind: 'serving' } as const;

  it('none, if all interfaces are served: ready', () => {
    expect(unserved(SERVING, SERVING)).toEqual([]);
  });

  it('pools of an interface that is missing, failed or not open yet', () => {
    expect(unserved({ kind: 'missing' }, SERVING)).toEqual([
      'net-0: interface eth1 is missing',
      'net-1: interface eth1 is missing',
    ]);
    expect(unserved(SERVING, { kind: 'failed', message: 'cannot bind' })).toEqual(['net-1: cannot bind']);
    expect(unserved(SERVING, { kind: 'opening' })).toEqual(['net-1: interface eth2 is being opened']);
  });

  it('those whose leases are not recorded, or that have no interface', () => {
    expect(unserved(SERVING, SERVING, both, new Set(['net-0']))).toEqual([
      'net-1: it is not in the pools file, or its leases are not recorded yet',
    ]);
    const file = fileOf(['net-0', {}], ['net-1', {}], ['far', {}]);
    expect(unserved(SERVING, SERVING, file, new Set([...planned, 'far']))).toEqual([
      'far: no interface: give --interface far=IFACE',
    ]);
  });

  it('not a paused pool, but a pool that has an interface and left the file', () => {
    const paused = fileOf(['net-0', { paused: true }], ['net-1', {}]);
    expect(unserved(SERVING, SERVING, paused, new Set(['net-1']))).toEqual([]);
    expect(unserved(SERVING, SERVING, fileOf(['net-1', {}]), new Set(['net-1']))).toEqual([
      'net-0: it is not in the pools file, or its leases are not recorded yet',
    ]);
  });
});
