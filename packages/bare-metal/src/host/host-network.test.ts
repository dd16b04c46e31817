import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressOctets, isHostAddress, isSpecialAddress, parseHostNetwork } from './host-network.js';

/** Most are near each other: random addresses are in no network. */
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.tuple(fc.nat(3), fc.nat(3)).map(([one, other]) => `2001:db8:${one}::${other}`),
  fc.constantFrom('2001:db8::10.0.0.1', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'),
);
const placeOf = (...networks: readonly string[]) => ({
  subnet: undefined,
  networks: networks.flatMap((text) => parseHostNetwork(text) ?? []),
});

describe('IPv6 addresses, as Node reads them', () => {
  it.each(['::ffff:10.0.0.1', ' FE80::A '])('%s is valid', (text) => {
    expect([isIPv6(text.trim()), addressOctets(text)?.length]).toEqual([true, 16]);
  });

  it.each(['2001:db8::/64', '1::2::3', ''])('%s is not valid', (text) => {
    expect([isIPv6(text), addressOctets(text)]).toEqual([false, undefined]);
  });

  it('an address with a zone is not valid: a zone belongs to this host, and means nothing in a cluster', () => {
    expect(addressOctets('fe80::1%eth0')).toBeUndefined();
  });

  it('a host is in a network exactly if Node says so', () => {
    fc.assert(
      fc.property(ipv6, fc.nat(128), ipv6, (network, prefixLength, address) => {
        const oracle = new BlockList();
        oracle.addSubnet(network, prefixLength, 'ipv6');
        fc.pre(!isSpecialAddress(address));
        expect(isHostAddress(placeOf(`${network}/${prefixLength}`), address)).toBe(oracle.check(address, 'ipv6'));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('addresses that are never a host', () => {
  it.each(['127.0.0.1', '169.254.1.1', '224.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1', 'febf::1', 'ff02::1', '::ffff:10.0.0.1'])(
    '%s, whatever a ClusterAgent names',
    (address) => {
      expect(isHostAddress(placeOf('0.0.0.0/0', '::/0'), address)).toBe(false);
    },
  );

  it.each(['10.0.0.1', 'fec0::1', '2001:db8::1', 'fd00::1'])('%s may be a host', (address) => {
    expect(isHostAddress(placeOf('0.0.0.0/0', '::/0'), address)).toBe(true);
  });
});

describe('networks', () => {
  it.each(['10.0.0.0/33', '2001:db8::/129', '10.0.0.0', '10.0.0.0/08', '10.0.0.0/8/8', 'rack/8', '10.0.0.0/-1'])(
    '%s is not a network',
    (text) => {
      expect(parseHostNetwork(text)).toBeUndefined();
    },
  );

  it('an IPv4 host is in no IPv6 network, nor vice versa', () => {
    expect(isHostAddress(placeOf('::/0'), '10.0.0.1')).toBe(false);
    expect(isHostAddress(placeOf('0.0.0.0/0'), '2001:db8::1')).toBe(false);
  });
});
