import { parseIpv4Cidr } from '@vmdhcp/dhcp-allocator';
import type { LinkAddress, ListedAddress } from '@vmdhcp/linux-sockets';
import { createLogger } from '@vmdhcp/service-process';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { HostAddresses } from './host-addresses.js';
import { HostServerAddresses } from './host-server-addresses.js';

/** A kernel with the interfaces `eth1` and `eth2`, on which addresses expire as on a real one. */
class FakeHost implements HostAddresses {
  ms = 0;
  readonly indexes = new Map([
    ['eth1', 5],
    ['eth2', 6],
  ]);
  readonly #present = new Map<string, LinkAddress & { readonly endsAtMs: number }>();
  /** The error of each change, while it is set. */
  failure: Error | undefined;
  /** `remove` reports that the address may still be there. */
  refusesToRemove = false;
  prolonged = 0;

  readonly nowMs = () => this.ms;
  readonly indexOf = (name: string) => this.indexes.get(name) ?? 0;

  readonly list = (interfaceIndex: number): ListedAddress[] => {
    if (![...this.indexes.values()].includes(interfaceIndex)) throw new Error('cannot list the addresses: ENODEV');
    return [...this.#present.values()]
      .filter((one) => one.interfaceIndex === interfaceIndex && one.endsAtMs > this.ms)
      .map(({ endsAtMs, ...one }) => ({ ...one, validSeconds: (endsAtMs - this.ms) / 1000 }));
  };

  readonly add = (address: LinkAddress, seconds: number): boolean => {
    if (this.failure !== undefined) throw this.failure;
    if (this.list(address.interfaceIndex).some((one) => keyOf(one) === keyOf(address))) return false;
    this.put(address, seconds);
    return true;
  };

  readonly prolong = (address: LinkAddress, seconds: number): void => {
    if (this.failure !== undefined) throw this.failure;
    this.prolonged++;
    this.put(address, seconds);
  };

  readonly remove = (address: LinkAddress): boolean => {
    if (this.refusesToRemove) return false;
    this.#present.delete(keyOf(address));
    return true;
  };

  /** Adds an address as a person does by `ip address add`; Infinity: for ever. */
  put(address: LinkAddress, seconds: number): void {
    this.#present.set(keyOf(address), { ...address, endsAtMs: this.ms + seconds * 1000 });
  }

  /** `10.0.0.1/24 10s` of each address of an interface. */
  shown(name: string): string[] {
    return this.list(this.indexOf(name)).map(
      ({ address, prefixLength, validSeconds }) =>
        `10.0.${(address >> 8) & 255}.${address & 255}/${prefixLength} ${validSeconds}s`,
    );
  }
}

function keyOf({ interfaceIndex, address, prefixLength }: LinkAddress): string {
  return `${interfaceIndex} ${address} ${prefixLength}`;
}

function pool(network: number, prefixLength = 24) {
  const cidr = parseIpv4Cidr(`10.0.${network}.0/${prefixLength}`);
  if (cidr === undefined) throw new Error('no range');
  return { serverAddress: 0x0a000001 + network * 256, cidr };
}

const NET_0 = pool(0);
const NET_1 = pool(1);
const BY_HAND: LinkAddress = { interfaceIndex: 5, address: NET_0.serverAddress, prefixLength: 24 };

let host: FakeHost;
let addresses: HostServerAddresses;
let lines: string[];

beforeEach(async () => {
  host = new FakeHost();
  const logger = await createLogger('silent');
  lines = [];
  for (const level of ['info', 'error'] as const)
    vi.spyOn(logger, level).mockImplementation((_: unknown, message?: string) => void lines.push(`${level} ${message}`));
  addresses = new HostServerAddresses(host, logger);
});

/** Plays one second of an agent that serves these pools on `eth1`. */
function second(pools = [NET_0], isServed: (name: string) => boolean = () => true): void {
  host.ms += 1_000;
  addresses.keep(new Map([['eth1', pools]]), isServed);
}

describe('the server addresses of a bare host', () => {
  it('are added for ten seconds, and prolonged every second', () => {
    addresses.ensure('eth1', [NET_0]);
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 10s']);
    for (let passed = 0; passed < 60; passed++) second();
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 10s']);
    expect(lines).toEqual(['info server address added to the interface']);
  });

  it('are gone ten seconds after the agent was killed', () => {
    addresses.ensure('eth1', [NET_0]);
    host.ms += 10_000;
    expect(host.shown('eth1')).toEqual([]);
  });

  it('are added again after the agent was frozen and had lost them', () => {
    addresses.ensure('eth1', [NET_0]);
    host.ms += 30_000;
    second();
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 10s']);
  });

  it('exist for every pool of the interface', () => {
    addresses.ensure('eth1', [NET_0, NET_1]);
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 10s', '10.0.1.1/24 10s']);
    second([NET_0, NET_1]);
    expect(host.prolonged).toBe(2);
  });

  it('are removed for a pool that is gone; those of the others stay', () => {
    addresses.ensure('eth1', [NET_0, NET_1]);
    second([NET_1]);
    expect(host.shown('eth1')).toEqual(['10.0.1.1/24 10s']);
    expect(lines.at(-1)).toBe('info server address removed from the interface');
  });

  it('are replaced if the pool has another prefix length', () => {
    addresses.ensure('eth1', [NET_0]);
    second([pool(0, 25)]);
    expect(host.shown('eth1')).toEqual(['10.0.0.1/25 10s']);
  });

  it('are not prolonged on an interface that is not served', () => {
    addresses.ensure('eth1', [NET_0]);
    second([NET_0], (name) => name !== 'eth1');
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 9s']);
  });

  it('are removed when the agent stops', () => {
    addresses.ensure('eth1', [NET_0, NET_1]);
    addresses.release();
    expect(host.shown('eth1')).toEqual([]);
  });

  it('are removed by a later attempt if the system refuses', () => {
    addresses.ensure('eth1', [NET_0]);
    host.refusesToRemove = true;
    second([]);
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 9s']);
    host.refusesToRemove = false;
    second([]);
    expect(host.shown('eth1')).toEqual([]);
  });

  it('go with the interface: on another one of the same name they are added again', () => {
    addresses.ensure('eth1', [NET_0]);
    host.indexes.set('eth1', 7);
    second();
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 10s']);
    expect(host.list(7)).toHaveLength(1);
  });

  it('are forgotten if their interface is gone: nothing is removed, and nothing is thrown', () => {
    addresses.ensure('eth1', [NET_0]);
    host.indexes.delete('eth1');
    second([], () => false);
    addresses.release();
    expect(lines).toEqual(['info server address added to the interface']);
  });
});

describe('an address that the agent has not added', () => {
  it.each([24, 25])('is neither prolonged nor removed, with prefix length %d', (prefixLength) => {
    host.put({ ...BY_HAND, prefixLength }, Number.POSITIVE_INFINITY);
    addresses.ensure('eth1', [NET_0]);
    second();
    second([]);
    addresses.release();
    expect(host.shown('eth1')).toEqual([`10.0.0.1/${prefixLength} Infinitys`]);
    expect(host.prolonged).toBe(0);
    expect(lines).toEqual([]);
  });

  it.each([9_899, 9_901, 10_001, 60_000])(
    'that replaced its own, %d ms after the agent was frozen, is neither prolonged nor removed',
    (frozenMs) => {
      addresses.ensure('eth1', [NET_0]);
      host.remove(BY_HAND);
      host.put(BY_HAND, Number.POSITIVE_INFINITY);
      host.ms += frozenMs - 1_000;
      second();
      second([]);
      addresses.release();
      expect(host.shown('eth1')).toEqual(['10.0.0.1/24 Infinitys']);
    },
  );

  it('that another program added for a limited time, after its own expired, is left alone', () => {
    addresses.ensure('eth1', [NET_0]);
    host.ms += 9_950;
    host.put(BY_HAND, 100);
    second();
    addresses.release();
    expect(host.shown('eth1')).toEqual(['10.0.0.1/24 99s']);
  });

  it('with another prefix length that replaced its own is left alone', () => {
    addresses.ensure('eth1', [NET_0]);
    host.remove(BY_HAND);
    host.put({ ...BY_HAND, prefixLength: 25 }, 100);
    second();
    addresses.release();
    expect(host.shown('eth1')).toEqual(['10.0.0.1/25 99s']);
  });
});

describe('a system that refuses addresses', () => {
  it('makes ensure throw its reason, also for an interface that does not exist', () => {
    host.failure = new Error('cannot add the address: EPERM; grant CAP_NET_ADMIN');
    expect(() => addresses.ensure('eth1', [NET_0])).toThrow('grant CAP_NET_ADMIN');
    expect(() => addresses.ensure('eth9', [NET_0])).toThrow('interface eth9 is missing');
  });

  it('is logged once for each reason and interface, and again after it worked', () => {
    host.failure = new Error('EPERM');
    second();
    second();
    host.failure = new Error('EBUSY');
    second();
    host.failure = undefined;
    second();
    host.failure = new Error('EBUSY');
    second();
    expect(lines.map((line) => line.replace(/the server address cannot be kept on the interface: (\w+); .*/, '$1'))).toEqual([
      'error EPERM',
      'error EBUSY',
      'info server address added to the interface',
      'error EBUSY',
    ]);
  });

  it('on one interface does not prevent the addresses of another from being prolonged', () => {
    addresses.ensure('eth2', [NET_1]);
    host.ms += 1_000;
    addresses.keep(
      new Map([
        ['eth9', [NET_0]],
        ['eth2', [NET_1]],
      ]),
      () => true,
    );
    expect(host.shown('eth2')).toEqual(['10.0.1.1/24 10s']);
  });
});
