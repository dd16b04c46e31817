import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMacAddress } from '../address/mac-address.js';
import { answerDhcpv6Packet } from './answer-dhcpv6-packet.js';
import { type Dhcpv6Message, type Dhcpv6Relay, decodeDhcpv6Packet } from './decode-dhcpv6-packet.js';
import {
  association,
  clientIdentifier,
  ip,
  type MessageName,
  packet,
  RELAY_ADDRESS,
  readReply,
  relay,
  relayed,
  SERVER,
  serverIdentifier,
  serving,
  sourceOf,
} from './dhcpv6-fixtures.js';
import { type Dhcpv6OptionEntry, encodeDhcpv6Options, readDhcpv6Options } from './dhcpv6-options.js';
import { encodeDhcpv6Message } from './encode-dhcpv6-packet.js';
import { Dhcpv6Option, Dhcpv6Type } from './layout.js';

const octets = (maxLength: number) => fc.uint8Array({ maxLength, size: 'max' });
const option = fc
  .tuple(fc.oneof(fc.nat(0xffff), fc.constantFrom(...Object.values(Dhcpv6Option))), octets(40))
  .map((entry): Dhcpv6OptionEntry => entry);
const options = fc.array(option, { maxLength: 12, size: 'max' });
const withoutMessage = options.map((all) => all.filter(([code]) => code !== Dhcpv6Option.relayMessage));
const type = fc.nat(255).filter((one) => one !== Dhcpv6Type.relayForward && one !== Dhcpv6Type.relayReply);
const message: fc.Arbitrary<Dhcpv6Message> = fc.record({ type, transactionId: fc.nat(0xffffff), options });
const address = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n });
const relays: fc.Arbitrary<Dhcpv6Relay[]> = fc.array(
  fc.record({
    type: fc.constantFrom(Dhcpv6Type.relayForward, Dhcpv6Type.relayReply),
    hopCount: fc.nat(255),
    linkAddress: address,
    peerAddress: address,
    options: withoutMessage,
  }),
  { maxLength: 8, size: 'max' },
);
const MACS = ['02:00:00:00:00:01', '02:00:00:00:00:02', '02:00:00:00:00:03'] as const;
const ADDRESSES = new Map(MACS.map((mac, index) => [mac as string, ip(`2001:db8::${index + 1}`)]));

describe('the codec', () => {
  it('law: decode(encode(message)) = message, through up to eight relays', () => {
    fc.assert(
      fc.property(message, relays, (one, path) => {
        expect(decodeDhcpv6Packet(relayed(encodeDhcpv6Message(one), ...path))).toEqual({ ok: true, message: one, relays: path });
      }),
    );
  });

  it('law: options read back as they were written', () => {
    fc.assert(
      fc.property(options, (all) => {
        expect(readDhcpv6Options(encodeDhcpv6Options(all))).toEqual(all);
      }),
    );
  });

  it('a value that has no room for its length is a bug of the caller', () => {
    expect(() => encodeDhcpv6Options([[1, new Uint8Array(0x10000)]])).toThrow('option 1 has 65536 octets; 65535 are possible');
  });
});

/** Packets that clients send, with octets changed, removed and added. */
const someAssociation = fc
  .tuple(fc.nat(3), fc.subarray([...ADDRESSES.values(), ip('2001:db8:9::1')]))
  .map(([iaid, own]) => association(iaid, ...own));
/** Most clients send the identifiers that the type of their message needs. */
const kind = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('solicit', 'rebind', 'confirm', 'request', 'renew', 'release', 'decline') },
  fc.constantFrom(...(Object.keys(Dhcpv6Type) as MessageName[])),
);
const identifiers = fc.constantFrom([clientIdentifier()], [clientIdentifier(), serverIdentifier()], []);
const honest = fc
  .tuple(kind, identifiers, fc.array(fc.oneof({ weight: 3, arbitrary: someAssociation }, option), { maxLength: 4 }))
  .map(([name, first, rest]) => packet(name, ...first, ...rest));
const mutated = fc
  .tuple(honest, fc.array(fc.tuple(fc.nat(400), fc.nat(255)), { maxLength: 4 }), fc.nat(20))
  .map(([bytes, changes, cut]) => {
    const copy = bytes.slice(0, Math.max(0, bytes.length - (cut > 10 ? cut - 10 : 0)));
    for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value;
    return copy;
  });

const GUEST = ip('fe80::66');
/** Relays that are allowed, and guests that play one. */
const path = fc.array(
  fc
    .tuple(
      fc.constantFrom(...MACS, undefined),
      fc.constantFrom(ip('2001:db8:f::2'), GUEST),
      fc.constantFrom(0n, ip('2001:db8::1')),
    )
    .map(([mac, peerAddress, linkAddress]) => relay(mac, { peerAddress, linkAddress })),
  { maxLength: 3 },
);

describe('the server', () => {
  it('law: whatever octets arrive, nothing is thrown, and a reply can be decoded', () => {
    const long = fc
      .integer({ min: 0, max: 300 })
      .map((count) =>
        packet('rebind', clientIdentifier(), association(1, ...Array.from({ length: count }, (_, one) => BigInt(one)))),
      );
    fc.assert(
      fc.property(fc.oneof(octets(300), mutated, long), path, (bytes, relays) => {
        const source = sourceOf(MACS[0], relays.length === 0 ? {} : { address: RELAY_ADDRESS });
        const answer = answerDhcpv6Packet(relayed(bytes, ...relays), source, serving(undefined, ADDRESSES));
        if (answer.kind === 'reply') readReply(answer.bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  it('law: behind relays, a client is told no address but the one of the MAC address that an allowed relay names', () => {
    let replies = 0;
    fc.assert(
      fc.property(honest, path, fc.constantFrom(RELAY_ADDRESS, GUEST), (bytes, relays, from) => {
        fc.pre(relays.length > 0);
        const answer = answerDhcpv6Packet(
          relayed(bytes, ...relays),
          sourceOf(MACS[0], { address: from }),
          serving(undefined, ADDRESSES),
        );
        if (answer.kind !== 'reply') return;
        // All relays on the way are known, and the last one names the client.
        expect([from, ...relays.slice(0, -1).map(({ peerAddress }) => peerAddress)]).not.toContain(GUEST);
        const [, named] = relays.at(-1)?.options.find(([code]) => code === Dhcpv6Option.clientLinkLayerAddress) ?? [];
        expect(answer.macAddress).toBe(readMacAddress(named ?? new Uint8Array(8), 2));
        const usable = readReply(answer.bytes).associations.flatMap(({ addresses }) =>
          addresses.filter(([, , valid]) => valid > 0),
        );
        for (const [told] of usable) expect(told).toBe(ADDRESSES.get(answer.macAddress));
        if (usable.length > 0) replies++;
      }),
      { numRuns: 2_000 },
    );
    expect(replies).toBeGreaterThan(10);
  });

  it('law: a client is told no address but the one of its MAC address, whatever identifiers and addresses it sends', () => {
    let replies = 0;
    const mac = fc.constantFrom(...MACS, '02:00:00:00:00:0f');
    fc.assert(
      fc.property(fc.oneof(honest, mutated), mac, (bytes, macAddress) => {
        const answer = answerDhcpv6Packet(bytes, sourceOf(macAddress), serving(undefined, ADDRESSES));
        if (answer.kind !== 'reply') return;
        const { associations, server } = readReply(answer.bytes);
        const usable = associations.flatMap(({ addresses }) => addresses.filter(([, , valid]) => valid > 0));
        for (const [told] of usable) expect(told).toBe(ADDRESSES.get(macAddress));
        expect(usable.length).toBeLessThanOrEqual(1);
        if (server !== undefined) expect(server).toEqual(SERVER);
        if (usable.length > 0) replies++;
      }),
      { numRuns: 2_000 },
    );
    expect(replies).toBeGreaterThan(40);
  });

  it('law: one machine with any DUID, and any association, has one address', () => {
    const duid = fc.uint8Array({ minLength: 3, maxLength: 130 });
    fc.assert(
      fc.property(fc.constantFrom(...MACS), duid, fc.nat(0xffffffff), (macAddress, identifier, iaid) => {
        const bytes = packet('request', clientIdentifier(identifier), serverIdentifier(), association(iaid));
        const answer = answerDhcpv6Packet(bytes, sourceOf(macAddress), serving(undefined, ADDRESSES));
        const reply = answer.kind === 'reply' ? readReply(answer.bytes) : undefined;
        expect(reply?.client).toEqual(identifier);
        expect(reply?.associations.map((one) => [one.iaid, one.addresses[0]?.[0]])).toEqual([[iaid, ADDRESSES.get(macAddress)]]);
      }),
    );
  });
});
