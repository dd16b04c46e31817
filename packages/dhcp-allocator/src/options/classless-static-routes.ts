import type { Ipv4Address } from '../address/ipv4-address.js';
import { type Ipv4Cidr, maskOf } from '../address/ipv4-cidr.js';
import { concatenate, readUint32, toBytes } from '../wire/big-endian.js';

/** A route that clients get (option 121): a subnet, and the router to it. */
export interface StaticRoute {
  readonly destination: Ipv4Cidr;
  readonly gateway: Ipv4Address;
}

/** Option 121: prefix length, the octets of the network that count, the gateway; one route after the other. Source: RFC 3442. */
export function encodeStaticRoutes(routes: readonly StaticRoute[]): Uint8Array {
  return concatenate(
    routes.flatMap(({ destination: { network, prefixLength }, gateway }) => [
      Uint8Array.of(prefixLength),
      toBytes(network, 4).subarray(0, significantOctets(prefixLength)),
      toBytes(gateway, 4),
    ]),
  );
}

/** The routes, at least one; undefined if the octets are not whole routes. */
export function decodeStaticRoutes(bytes: Uint8Array): StaticRoute[] | undefined {
  const routes: StaticRoute[] = [];
  let at = 0;
  while (at < bytes.length) {
    const prefixLength = bytes[at] as number;
    const octets = significantOctets(prefixLength);
    if (prefixLength > 32 || at + 1 + octets + 4 > bytes.length) return undefined;
    const network = new Uint8Array(4);
    network.set(bytes.subarray(at + 1, at + 1 + octets));
    routes.push({
      destination: { network: (readUint32(network, 0) & maskOf(prefixLength)) >>> 0, prefixLength },
      gateway: readUint32(bytes, at + 1 + octets),
    });
    at += 1 + octets + 4;
  }
  return routes.length === 0 ? undefined : routes;
}

function significantOctets(prefixLength: number): number {
  return Math.ceil(prefixLength / 8);
}
