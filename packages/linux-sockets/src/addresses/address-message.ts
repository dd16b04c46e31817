/** IPv4 addresses of interfaces, as messages of the routing socket. Source: rtnetlink(7), linux/if_addr.h. */
import type { Ipv4Number } from '../ethernet/mac-address.js';
import * as libc from '../libc/constants.js';
import { decodeAttributes, encodeUint32, ipv4, type NetlinkAttribute } from '../netlink/netlink-attributes.js';
import { type NetlinkRequest, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE } from '../netlink/netlink-message.js';

const RTM_NEWADDR = 20;
const RTM_DELADDR = 21;
const RTM_GETADDR = 22;
const IFADDRMSG_LENGTH = 8;
const IFA_ADDRESS = 1;
const IFA_LOCAL = 2;
const IFA_CACHEINFO = 6;
const IFA_FLAGS = 8;
const IFA_F_NOPREFIXROUTE = 0x200;
const FOR_EVER = 0xffff_ffff;

/** An address, its network and its interface. */
export interface LinkAddress {
  readonly interfaceIndex: number;
  readonly address: Ipv4Number;
  /** 0 to 32. */
  readonly prefixLength: number;
}

/** An address that an interface has. */
export interface ListedAddress extends LinkAddress {
  /** The kernel removes it after this many seconds; Infinity for never. */
  readonly validSeconds: number;
}

/** How long an address stays, and its route. */
export interface AddressTerms {
  readonly seconds: number;
  /** True if the kernel adds a route to the address's network. An existing address keeps its routes. */
  readonly prefixRoute: boolean;
  /** If the interface already has the address: `true` gives it these terms, `false` makes the request fail with EEXIST. */
  readonly ifPresent: 'change' | 'refuse';
}

/** A request to add an address. */
export function addAddressRequest(address: LinkAddress, { seconds, prefixRoute, ifPresent }: AddressTerms): NetlinkRequest {
  // `struct ifa_cacheinfo`: preferred and valid for so many seconds, then two times that the kernel sets.
  const cacheInfo = Buffer.alloc(16);
  cacheInfo.writeUInt32LE(seconds, 0);
  cacheInfo.writeUInt32LE(seconds, 4);
  return {
    type: RTM_NEWADDR,
    flags: NLM_F_CREATE | (ifPresent === 'change' ? NLM_F_REPLACE : NLM_F_EXCL),
    body: addressBody(address),
    attributes: [
      ...addressAttributes(address),
      [IFA_CACHEINFO, cacheInfo],
      [IFA_FLAGS, encodeUint32(prefixRoute ? 0 : IFA_F_NOPREFIXROUTE)],
    ],
  };
}

/** A request to remove an address; it fails with EADDRNOTAVAIL if the interface does not have it. */
export function deleteAddressRequest(address: LinkAddress): NetlinkRequest {
  return { type: RTM_DELADDR, body: addressBody(address), attributes: addressAttributes(address) };
}

/** A request to list the IPv4 addresses of an interface; kernels before 4.20 list those of all interfaces. */
export function listAddressesRequest(interfaceIndex: number): Omit<NetlinkRequest, 'flags'> {
  return { type: RTM_GETADDR, body: addressBody({ interfaceIndex, prefixLength: 0 }), attributes: [] };
}

/** The address that an entry of the list describes; undefined for one of another family. */
export function decodeListedAddress(entry: Buffer): ListedAddress | undefined {
  if (entry.length < IFADDRMSG_LENGTH || entry.readUInt8(0) !== libc.AF_INET) return undefined;
  const values = decodeAttributes(entry.subarray(IFADDRMSG_LENGTH));
  // The local address; on a point-to-point link IFA_ADDRESS is that of the other end.
  const local = values.get(IFA_LOCAL) ?? values.get(IFA_ADDRESS);
  if (local === undefined || local.length < 4) return undefined;
  const validSeconds = values.get(IFA_CACHEINFO)?.readUInt32LE(4) ?? FOR_EVER;
  return {
    interfaceIndex: entry.readUInt32LE(4),
    address: local.readUInt32BE(),
    prefixLength: entry.readUInt8(1),
    validSeconds: validSeconds === FOR_EVER ? Number.POSITIVE_INFINITY : validSeconds,
  };
}

/** `struct ifaddrmsg`: family, prefix length, flags, scope, interface. */
function addressBody({ interfaceIndex, prefixLength }: Omit<LinkAddress, 'address'>): Buffer {
  const body = Buffer.alloc(IFADDRMSG_LENGTH);
  body.writeUInt8(libc.AF_INET, 0);
  body.writeUInt8(prefixLength, 1);
  body.writeUInt32LE(interfaceIndex, 4);
  return body;
}

function addressAttributes({ address }: LinkAddress): NetlinkAttribute[] {
  return [
    [IFA_LOCAL, ipv4(address)],
    [IFA_ADDRESS, ipv4(address)],
  ];
}
