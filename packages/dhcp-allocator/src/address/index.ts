/**
 * Addresses and ranges, without the rest of the package.
 *
 * @packageDocumentation
 */
export {
  BROADCAST_ADDRESS,
  formatIpv4Address,
  type Ipv4Address,
  isNeverAHost,
  parseIpv4Address,
  UNSPECIFIED_ADDRESS,
} from './ipv4-address.js';
export {
  broadcastAddressOf,
  cidrContains,
  cidrsOverlap,
  formatIpv4Cidr,
  type Ipv4Cidr,
  lastAddressOf,
  maskOf,
  networkAddressOf,
  parseIpv4Cidr,
} from './ipv4-cidr.js';
export {
  formatIpv4Range,
  type Ipv4Range,
  intersectRanges,
  mergeRanges,
  parseIpv4Range,
  rangeContains,
  rangesContain,
  sizeOfRange,
  subtractRanges,
} from './ipv4-range.js';
export {
  formatIpv6Address,
  formatIpv6Prefix,
  type Ipv6Address,
  type Ipv6Prefix,
  ipv6AddressBytes,
  parseIpv6Address,
  parseIpv6Prefix,
  prefixContains,
  prefixesOverlap,
  readIpv6Address,
} from './ipv6-address.js';
export { isGroupMacAddress, type MacAddress, macAddressBytes, parseMacAddress, readMacAddress } from './mac-address.js';
