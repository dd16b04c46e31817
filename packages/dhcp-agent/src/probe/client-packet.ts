import { encodeMessage, type MacAddress, MessageTypeCode, macAddressBytes, OptionCode } from '@vmdhcp/dhcp-allocator';

const BROADCAST_FLAG = 0x8000;

/** A packet of a client, as a probe sends it. */
export interface ClientPacket {
  readonly type: keyof typeof MessageTypeCode;
  readonly macAddress: MacAddress;
  readonly xid: number;
  /** Since the client began; default 0. */
  readonly secs?: number;
  /** True if answers should be broadcast. */
  readonly wantsBroadcast?: boolean;
  /** ciaddr; default: none. */
  readonly clientAddress?: number;
  /** giaddr; default: no relay. */
  readonly relayAddress?: number;
  /** Options besides the message type. */
  readonly options?: readonly (readonly [code: number, octets: Uint8Array])[];
}

/** A client's packet, as octets. */
export function encodeClientPacket(packet: ClientPacket): Uint8Array {
  const { type, macAddress, xid, secs = 0, wantsBroadcast = false, clientAddress = 0, relayAddress = 0, options = [] } = packet;
  const { bytes } = encodeMessage({
    op: 1,
    htype: 1,
    hlen: 6,
    hops: 0,
    xid,
    secs,
    flags: wantsBroadcast ? BROADCAST_FLAG : 0,
    ciaddr: clientAddress,
    yiaddr: 0,
    siaddr: 0,
    giaddr: relayAddress,
    chaddr: macAddressBytes(macAddress),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [[OptionCode.messageType, Uint8Array.of(MessageTypeCode[type])], ...options],
  });
  return bytes;
}
