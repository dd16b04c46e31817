import {
  type AllocationRefusal,
  cidrContains,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  type MacAddress,
  type Pool,
} from '@vmdhcp/dhcp-allocator';
import type { Explanation } from '../explanation.js';
import { describeRoom } from './describe-room.js';

interface Refusal {
  readonly reason: AllocationRefusal;
  /** The client that has the address, or for which it is reserved. */
  readonly owner?: MacAddress;
}

interface RefusedClaim {
  readonly macAddress: MacAddress;
  /** Undefined for any address. */
  readonly wanted: Ipv4Address | undefined;
}

/** Why a pool cannot assign an address to a client. */
export function explainRefusal(refusal: Refusal, pool: Pool, { macAddress, wanted }: RefusedClaim): Explanation {
  const address = wanted === undefined ? 'an address' : formatIpv4Address(wanted);
  const { message, remedy } = explain(refusal, pool, wanted);
  return { message: `pool ${pool.name} cannot assign ${address} to ${macAddress}: ${message}`, remedy };
}

/** For a client whose MAC address another one has on the network. */
export function explainSecondClaim(macAddress: MacAddress, owner: string): Explanation {
  return { message: `${macAddress} is claimed by ${owner} too`, remedy: 'give one of the interfaces another MAC address' };
}

/** For an address that two clients want, and neither has. */
export function explainRival(
  address: Ipv4Address,
  rival: { readonly owner: string; readonly macAddress: MacAddress },
): Explanation {
  const message = `${formatIpv4Address(address)} is wanted by ${rival.owner} (${rival.macAddress}) too`;
  return { message, remedy: 'give one of them another address' };
}

/** In the message, "it" is the address. */
function explain({ reason, owner }: Refusal, pool: Pool, wanted: Ipv4Address | undefined): Explanation {
  switch (reason) {
    case 'pool-exhausted':
      return { message: 'every address is in use', remedy: describeRoom(pool) };
    case 'address-outside-pool':
      return wanted === undefined || cidrContains(pool.cidr, wanted)
        ? {
            message: 'it lies outside the range of the pool',
            remedy: 'choose another, or add it with this MAC address to spec.ipv4Config.reservations of the IPPool',
          }
        : { message: `it lies outside ${formatIpv4Cidr(pool.cidr)}`, remedy: 'choose another' };
    case 'address-unavailable':
      return { message: 'it is excluded, or the address of the server or the router', remedy: 'choose another' };
    case 'address-reserved':
      return { message: `it is reserved for ${owner}`, remedy: 'choose another, or change the reservation' };
    case 'address-taken':
      return {
        message: `${owner} has it`,
        remedy: 'choose another, or delete the virtual machine with that MAC address first',
      };
    case 'address-quarantined':
      return {
        message: 'another host on the network uses it',
        remedy: 'choose another, or remove that host and wait until the quarantine in status.ipv4.quarantined of the IPPool ends',
      };
    case 'client-has-another-address':
      return { message: 'the client has another one', remedy: 'free that first' };
  }
}
