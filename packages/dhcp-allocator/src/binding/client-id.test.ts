import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientIdOf, hardwareClientId, identifierOf, isClientId, storedClientId } from './client-id.js';

const OWN = '02:00:00:00:00:01';
const octet = fc.nat(255);
const identifier = fc.oneof(
  fc.array(octet, { minLength: 2, maxLength: 135 }),
  fc.array(octet, { minLength: 1, maxLength: 134 }).map((octets) => [1, ...octets]),
);
const macAddress = fc
  .array(octet, { minLength: 6, maxLength: 6 })
  .map((octets) => octets.map((each) => each.toString(16).padStart(2, '0')).join(':'));

describe('the identity of a client', () => {
  it.each([
    ['RFC 2131 §4.2 no identifier', undefined, '01020000000001'],
    ['RFC 2132 §9.14 its own hardware address', [1, 2, 0, 0, 0, 0, 1], '01020000000001'],
    ['RFC 4361 §6.1 opaque octets', [255, 0, 0, 0, 1, 0, 2, 9], 'ff00000001000209'],
    ['RFC 2132 §9.14 the hardware address of another host', [1, 2, 0, 0, 0, 0, 2], '01020000000002020000000001'],
    ['what another such host is known by', [1, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3], '01020000000002020000000003020000000001'],
    ['one octet', [1], '01020000000001'],
    ['136 octets', Array<number>(136).fill(9), '01020000000001'],
  ])('%s', (_title, octets, expected) => {
    expect(clientIdOf(OWN, octets && Uint8Array.from(octets))).toBe(expected);
  });

  it('law: an identifier is the hardware identity of no host but its sender, and no two senders of one with the type 1 have one identity', () => {
    fc.assert(
      fc.property(macAddress, macAddress, identifier, (one, other, octets) => {
        fc.pre(one !== other);
        const id = clientIdOf(one, Uint8Array.from(octets));
        expect(isClientId(id)).toBe(true);
        expect(id).not.toBe(hardwareClientId(other));
        if (octets[0] === 1) expect(id).not.toBe(clientIdOf(other, Uint8Array.from(octets)));
      }),
    );
  });

  it('law: is stored and read as it is, and has what the client sends', () => {
    fc.assert(
      fc.property(macAddress, identifier, (one, octets) => {
        const id = clientIdOf(one, Uint8Array.from(octets));
        expect(storedClientId(one, id)).toBe(id);
        const sent = octets.map((each) => each.toString(16).padStart(2, '0')).join('');
        expect([undefined, sent]).toContain(identifierOf(one, id));
      }),
    );
  });

  it('that an earlier version stored is the one that the client has now', () => {
    expect(storedClientId(OWN, '01020000000002')).toBe(clientIdOf(OWN, Uint8Array.of(1, 2, 0, 0, 0, 0, 2)));
    expect(storedClientId(OWN, '01020000000001')).toBe('01020000000001');
    expect(storedClientId(OWN, 'ff0102')).toBe('ff0102');
  });
});
