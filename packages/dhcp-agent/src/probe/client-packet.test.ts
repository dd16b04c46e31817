import { decodeMessage, encodeOption, OptionCode } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { type ClientPacket, encodeClientPacket } from './client-packet.js';

const MAC = '02:00:00:00:00:0a';

function decoded(fields: Partial<ClientPacket> = {}) {
  const message = decodeMessage(encodeClientPacket({ type: 'discover', macAddress: MAC, xid: 7, ...fields }));
  if (!message.ok) throw new Error(message.reason);
  const header = message.message;
  const { options } = header;
  const codes = Array.from({ length: 255 }, (_, code) => code).filter((code) => options.get(code) !== undefined);
  return { header, options, codes };
}

describe('a packet of a client', () => {
  it('is a request from an Ethernet address with its type, and nothing else (RFC 2131 §2)', () => {
    const { header, codes } = decoded();
    expect(header).toMatchObject({ op: 1, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 0, flags: 0 });
    expect(header).toMatchObject({ ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 });
    expect(header.chaddr.slice(0, 6)).toEqual(Uint8Array.of(2, 0, 0, 0, 0, 0xa));
    expect(codes).toEqual([OptionCode.messageType]);
  });

  it.each<[Partial<ClientPacket>, object]>([
    [{ secs: 9 }, { secs: 9, flags: 0 }],
    [{ wantsBroadcast: true }, { secs: 0, flags: 0x8000 }],
    [{ wantsBroadcast: false }, { flags: 0 }],
    [{ clientAddress: 0x0a00000a }, { ciaddr: 0x0a00000a, giaddr: 0 }],
    [{ relayAddress: 0x0a000063 }, { ciaddr: 0, giaddr: 0x0a000063 }],
  ])('%j', (fields, expected) => {
    expect(decoded(fields).header).toMatchObject(expected);
  });

  it.each<[ClientPacket['type'], number]>([
    ['discover', 1],
    ['request', 3],
    ['decline', 4],
    ['release', 7],
    ['inform', 8],
  ])('%s is message type %d (RFC 2132 §9.6)', (type, code) => {
    expect(decoded({ type }).options.uint8(OptionCode.messageType)).toBe(code);
  });

  it('has the options that it is given', () => {
    const { options, codes } = decoded({ options: [encodeOption('requestedAddress', 0x0a00000a)] });
    expect([codes, options.uint32(OptionCode.requestedAddress)]).toEqual([[50, 53], 0x0a00000a]);
  });
});
