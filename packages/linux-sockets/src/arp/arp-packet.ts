/** ARP for IPv4 over Ethernet, as octets. Source: RFC 826. */
import type { Ipv4Number } from '../ethernet/mac-address.js';
import { ETHERTYPE_IPV4 } from '../libc/libc.js';

export const ARP_LENGTH = 28;
/** Where the sender's IPv4 address is in a packet. */
export const ARP_SENDER_ADDRESS_AT = 14;
export const ETHERTYPE_ARP = 0x0806;
const ETHERNET = 1;
const REQUEST = 1;
const REPLY = 2;

export interface ArpRequest {
  readonly senderHardwareAddress: Uint8Array;
  /** 0 if the sender only probes (RFC 5227 §2.1.1). */
  readonly senderAddress: Ipv4Number;
  readonly targetAddress: Ipv4Number;
}

/** Writes a request to the beginning of `packet`. */
export function writeArpRequest(packet: Buffer, { senderHardwareAddress, senderAddress, targetAddress }: ArpRequest): void {
  packet.fill(0, 0, ARP_LENGTH);
  packet.writeUInt16BE(ETHERNET, 0);
  packet.writeUInt16BE(ETHERTYPE_IPV4, 2);
  packet.writeUInt8(6, 4);
  packet.writeUInt8(4, 5);
  packet.writeUInt16BE(REQUEST, 6);
  packet.set(senderHardwareAddress, 8);
  packet.writeUInt32BE(senderAddress, ARP_SENDER_ADDRESS_AT);
  packet.writeUInt32BE(targetAddress, 24);
}

export interface ArpPacket {
  /** False for a request. */
  readonly isReply: boolean;
  readonly senderHardwareAddress: Uint8Array;
  readonly senderAddress: Ipv4Number;
  readonly targetAddress: Ipv4Number;
}

/** Undefined if it is not ARP for IPv4 over Ethernet. */
export function readArp(packet: Buffer): ArpPacket | undefined {
  if (packet.length < ARP_LENGTH) return undefined;
  if (packet.readUInt16BE(0) !== ETHERNET || packet.readUInt16BE(2) !== ETHERTYPE_IPV4) return undefined;
  if (packet.readUInt8(4) !== 6 || packet.readUInt8(5) !== 4) return undefined;
  return {
    isReply: packet.readUInt16BE(6) === REPLY,
    senderHardwareAddress: Uint8Array.from(packet.subarray(8, 14)),
    senderAddress: packet.readUInt32BE(ARP_SENDER_ADDRESS_AT),
    targetAddress: packet.readUInt32BE(24),
  };
}
