import { describe, expect, it } from 'vitest';
import { readHostPool } from './host-pool.js';
import { clusterAgent, ip } from './hosts-fixtures.js';
import { type ManagementLinkKernel, readManagementLink } from './management-link.js';
import { addedBy } from './self-address.js';

const LEASE_SECONDS = 10;
const SELF = { interfaceName: 'net1', interfaceIndex: 3, address: ip('10.0.0.2'), prefixLength: 24 };

function kernel(addresses: readonly (readonly [address: string, validSeconds: number])[], isUp = true): ManagementLinkKernel {
  const list = addresses.map(([address, validSeconds]) => ({
    interfaceIndex: 3,
    address: ip(address),
    prefixLength: 24,
    validSeconds,
  }));
  return { indexOf: () => 3, isUp: () => isUp, list: () => list };
}

function added(from: ManagementLinkKernel, config: Readonly<Record<string, unknown>> = {}) {
  const link = readManagementLink(from, 'net1', LEASE_SECONDS);
  const reading = readHostPool(clusterAgent(config), link?.addresses);
  return reading.kind === 'served' ? addedBy(reading, link) : reading.kind;
}

describe('what a leader adds to its interface', () => {
  it.each<[what: string, from: ManagementLinkKernel, config: Readonly<Record<string, unknown>>, expected: unknown]>([
    ['selfIp, beside other addresses', kernel([['192.0.2.1', Infinity]]), {}, [SELF]],
    ['selfIp that a leader before it added', kernel([['10.0.0.2', 9]]), {}, [SELF]],
    ['nothing where the interface has selfIp from elsewhere', kernel([['10.0.0.2', Infinity]]), {}, []],
    ['nothing where another program keeps selfIp for an hour', kernel([['10.0.0.2', 3600]]), {}, []],
    ['nothing to an interface that is down', kernel([], false), {}, []],
    ['nothing without selfIp', kernel([['10.0.0.7', Infinity]]), { selfIp: undefined }, []],
    [
      'without selfIp, an address that a leader added does not belong to the interface',
      kernel([['10.0.0.2', 9]]),
      { selfIp: undefined },
      'unserved',
    ],
  ])('%s', (_, from, config, expected) => expect(added(from, config)).toEqual(expected));

  it('an interface that disappears while it is read does not exist', () => {
    const gone = {
      ...kernel([]),
      list: () => {
        throw new Error('ENODEV');
      },
    };
    expect(readManagementLink(gone, 'net1', LEASE_SECONDS)).toBeUndefined();
    expect(readManagementLink({ ...kernel([]), indexOf: () => 0 }, 'net1', LEASE_SECONDS)).toBeUndefined();
  });
});
