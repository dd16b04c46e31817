import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARP_LENGTH, readArp, writeArpRequest } from './arp-packet.js';

/** Packets of two Linux hosts, recorded with tcpdump on a veth pair, without the Ethernet header. */
const REQUEST = '0001080006040001020000000001 0a000001 000000000000 0a000002'.replaceAll(' ', '');
const REPLY = '0001080006040002020000000002 0a000002 020000000001 0a000001'.replaceAll(' ', '');

describe('ARP, recorded', () => {
  it('a request is written as Linux writes it (RFC 826)', () => {
    const packet = Buffer.alloc(ARP_LENGTH, 0xee);
    writeArpRequest(packet, {
      senderHardwareAddress: Uint8Array.of(2, 0, 0, 0, 0, 1),
      senderAddress: 0x0a000001,
      targetAddress: 0x0a000002,
    });
    expect(packet.toString('hex')).toBe(REQUEST);
  });

  it.each([
    ['request', REQUEST, { isReply: false, sender: 1, senderAddress: 0x0a000001, targetAddress: 0x0a000002 }],
    ['reply', REPLY, { isReply: true, sender: 2, senderAddress: 0x0a000002, targetAddress: 0x0a000001 }],
  ])('a %s is read', (_, hex, { sender, ...expected }) => {
    expect(readArp(Buffer.from(hex, 'hex'))).toEqual({
      ...expected,
      senderHardwareAddress: Uint8Array.of(2, 0, 0, 0, 0, sender),
    });
  });

  it.each([
    ['of another kind of hardware', 0, '0006'],
    ['of another protocol', 2, '86dd'],
    ['with longer hardware addresses', 4, '08'],
    ['with longer addresses', 5, '10'],
  ])('a packet %s is refused', (_, at, octets) => {
    const packet = Buffer.from(REPLY, 'hex');
    packet.write(octets, at, 'hex');
    expect(readArp(packet)).toBeUndefined();
  });

  it('accepts the padding of a short frame, and refuses a packet that is cut off', () => {
    const padded = Buffer.concat([Buffer.from(REPLY, 'hex'), Buffer.alloc(18)]);
    expect(readArp(padded)).toEqual(readArp(Buffer.from(REPLY, 'hex')));
    expect(readArp(Buffer.from(REPLY, 'hex').subarray(0, ARP_LENGTH - 1))).toBeUndefined();
  });

  it('law: reading any octets never throws', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (octets) => void readArp(Buffer.from(octets))));
  });
});
