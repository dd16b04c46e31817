import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ip, POOL } from './dhcpv6-fixtures.js';
import {
  encodeRouterAdvertisement,
  encodeRouterSolicitation,
  isRouterSolicitation,
  readRouterAdvertisement,
} from './router-advertisement.js';

const MAC = Uint8Array.of(2, 0, 0, 0, 0, 10);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bare = { ...POOL, options: { ...POOL.options, dnsServers: [], domainSearch: [] } };

/** The options of a message by type, each without type and length. */
function optionsOf(message: Uint8Array): Map<number, string> {
  const found = new Map<number, string>();
  for (let at = 16; at < message.length; ) {
    const length = 8 * (message[at + 1] as number);
    expect(length, 'RFC 4861 §4.6: an option has a length').toBeGreaterThan(0);
    found.set(message[at] as number, hex(message.subarray(at + 2, at + length)));
    at += length;
  }
  return found;
}

describe('a Router Advertisement', () => {
  it('RFC 4861 §4.2: says that addresses and options come by DHCPv6, and that it is from no router', () => {
    const message = encodeRouterAdvertisement([bare], { hardwareAddress: MAC, mtu: undefined });
    // Type, code, checksum, hop limit, M and O, router lifetime, reachable time, retransmission timer.
    expect(hex(message.subarray(0, 16))).toBe('860000000' + '0c00000' + '0000000000000000');
    expect(optionsOf(message)).toEqual(
      new Map([
        [1, '02000000000a'],
        [3, '4080' + '00015180' + '00015180' + '00000000' + '20010db8000000000000000000000000'],
      ]),
    );
  });

  it('RFC 4861 §4.2: in the name of routers, makes a default route for half an hour, and has no MAC address', () => {
    const pool = { ...bare, defaultRouters: [ip('fe80::1')] };
    const message = encodeRouterAdvertisement([pool], { hardwareAddress: MAC, mtu: undefined });
    expect(hex(message.subarray(0, 16))).toBe('860000000' + '0c00708' + '0000000000000000');
    expect([...optionsOf(message).keys()]).toEqual([3]);
    expect(readRouterAdvertisement(message, 255)).toEqual({ isDefaultRouter: true, isManaged: true });
  });

  it('RFC 4861 §4.6.4: has the MTU of the pool, unless IPv6 does not allow it', () => {
    const mtuOf = (mtu: number) => optionsOf(encodeRouterAdvertisement([bare], { hardwareAddress: MAC, mtu })).get(5);
    expect([mtuOf(1_400), mtuOf(1_280), mtuOf(1_279)]).toEqual(['000000000578', '000000000500', undefined]);
  });

  it('RFC 8106 §5.1, §5.2: has name servers and search domains', () => {
    const options = optionsOf(encodeRouterAdvertisement([POOL], { hardwareAddress: MAC, mtu: undefined }));
    expect(options.get(25)).toBe('0000' + '00000708' + '20010db8000000000000000000000053' + '20010db8000000000000000000000054');
    const names = hex(Buffer.from('\u0007example\u0003org\u0000\u0003lab\u0007example\u0003org\u0000', 'latin1'));
    expect(options.get(31)).toBe(`000000000708${names}`.padEnd(2 * (8 * Math.ceil((8 + names.length / 2) / 8) - 2), '0'));
  });
});

it.each<[string, number, string]>([
  ['64:ff9b::', 96, '0708' + '0064ff9b0000000000000000'],
  ['2001:db8:64::', 64, '0709' + '20010db80064000000000000'],
  ['2001:db8::', 32, '070d' + '20010db80000000000000000'],
])(
  'RFC 8781 §4: a Router Advertisement has the prefix of the NAT64, valid for 1,800 s: %s/%i',
  (network, prefixLength, octets) => {
    const pool = { ...bare, nat64Prefix: { network: ip(network), prefixLength } };
    const options = optionsOf(encodeRouterAdvertisement([pool], { hardwareAddress: MAC, mtu: undefined }));
    expect(options.get(38)).toBe(octets);
  },
);

it('a Router Advertisement has the prefix of each pool of the link', () => {
  const other = { ...bare, prefix: { network: ip('fd00:49::'), prefixLength: 64 } };
  const message = hex(encodeRouterAdvertisement([bare, other], { hardwareAddress: MAC, mtu: undefined }));
  expect([...message.matchAll(/0304(40)80.{24}(.{32})/g)].map((found) => found[2])).toEqual([
    '20010db8000000000000000000000000',
    'fd000049000000000000000000000000',
  ]);
});

describe('a Router Solicitation', () => {
  it.each<[string, number[], number, boolean]>([
    ['as a host sends it', [133, 0, 0, 0, 0, 0, 0, 0], 255, true],
    ['that was forwarded', [133, 0, 0, 0, 0, 0, 0, 0], 254, false],
    ['that is torn', [133, 0, 0, 0, 0, 0, 0], 255, false],
    ['with another code', [133, 1, 0, 0, 0, 0, 0, 0], 255, false],
    ['that is another message', [135, 0, 0, 0, 0, 0, 0, 0], 255, false],
    ['with its MAC address', [133, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 0, 0, 0, 0, 10], 255, true],
    ['with an option of no length', [133, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 10], 255, false],
    ['with an option that is torn', [133, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 0, 0, 0, 0, 10], 255, false],
    ['with one octet of an option', [133, 0, 0, 0, 0, 0, 0, 0, 1], 255, false],
  ])('RFC 4861 §6.1.1: %s', (_, message, hopLimit, isOne) => {
    expect(isRouterSolicitation(Uint8Array.from(message), { hopLimit, source: ip('fe80::a') })).toBe(isOne);
  });

  it.each<[string, number[], boolean]>([
    ['without an option', [], true],
    ['with a nonce', [14, 1, 1, 2, 3, 4, 5, 6], true],
    ['with its MAC address, which no host has before its address', [14, 1, 1, 2, 3, 4, 5, 6, 1, 1, 2, 0, 0, 0, 0, 10], false],
  ])('RFC 4861 §6.1.1: of a host without an address, %s', (_, options, isOne) => {
    const message = Uint8Array.of(133, 0, 0, 0, 0, 0, 0, 0, ...options);
    expect(isRouterSolicitation(message, { hopLimit: 255, source: ip('::') })).toBe(isOne);
  });

  it('law: any octets are accepted or not, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 40 }),
        fc.nat(255),
        fc.bigInt(0n, 1n),
        (message, hopLimit, source) => void isRouterSolicitation(message, { hopLimit, source }),
      ),
    );
  });
});

describe('a Router Advertisement that is heard', () => {
  const HEADER = [134, 0, 0, 0, 64, 0x80, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0];
  const changed = (at: number, octet: number) => HEADER.map((one, index) => (index === at ? octet : one));

  it.each<[string, number[], { isDefaultRouter: boolean; isManaged: boolean }]>([
    ['of a router that tells hosts to ask', HEADER, { isDefaultRouter: true, isManaged: true }],
    ['with options', [...HEADER, 1, 1, 2, 0, 0, 0, 0, 10, 5, 1, 0, 0, 0, 0, 5, 0], { isDefaultRouter: true, isManaged: true }],
    ['with O but not M', changed(5, 0x40), { isDefaultRouter: true, isManaged: false }],
    ['with a lifetime below 256 seconds', changed(6, 0), { isDefaultRouter: true, isManaged: true }],
    [
      'with a lifetime of 0',
      HEADER.map((one, index) => (index === 6 || index === 7 ? 0 : one)),
      { isDefaultRouter: false, isManaged: true },
    ],
  ])('RFC 4861 §4.2: %s', (_, message, expected) => {
    expect(readRouterAdvertisement(Uint8Array.from(message), 255)).toEqual(expected);
  });

  it.each<[string, number[], number]>([
    ['that was forwarded', HEADER, 254],
    ['that is torn', HEADER.slice(0, 15), 255],
    ['with another code', changed(1, 1), 255],
    ['that is another message', changed(0, 136), 255],
    ['with an option of no length', [...HEADER, 1, 0, 2, 0, 0, 0, 0, 10], 255],
    ['with an option that is torn', [...HEADER, 1, 2, 2, 0, 0, 0, 0, 10], 255],
  ])('RFC 4861 §6.1.2: is discarded: %s', (_, message, hopLimit) => {
    expect(readRouterAdvertisement(Uint8Array.from(message), hopLimit)).toBeUndefined();
  });

  it('law: reading what was written gives it; any octets never throw', () => {
    expect(readRouterAdvertisement(encodeRouterAdvertisement([POOL], { hardwareAddress: MAC, mtu: 1_400 }), 255)).toEqual({
      isDefaultRouter: false,
      isManaged: true,
    });
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => void readRouterAdvertisement(octets, 255)));
  });
});

it('RFC 4861 §4.1: a Router Solicitation has the MAC address of its sender', () => {
  const message = encodeRouterSolicitation(MAC);
  expect(hex(message)).toBe('8500000000000000' + '010102000000000a');
  expect(isRouterSolicitation(message, { hopLimit: 255, source: ip('fe80::a') })).toBe(true);
});
