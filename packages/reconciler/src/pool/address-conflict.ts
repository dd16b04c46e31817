/** Addresses of clients that another host uses, as found and reported by agents. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { ReportedConflict } from '@vmdhcp/ippool-api';

export interface AddressConflict {
  readonly address: Ipv4Address;
  /** The client that the address is assigned to. */
  readonly macAddress: MacAddress;
  /** The host that uses it; absent if only the client reported the conflict (DHCPDECLINE). */
  readonly usedBy?: MacAddress;
}

/** The conflict in the agents' report. */
export function toReportedConflict({ address, macAddress, usedBy }: AddressConflict): ReportedConflict {
  return { address: formatIpv4Address(address), macAddress, ...(usedBy !== undefined && { usedBy }) };
}

/** The conflicts of a report; one whose addresses cannot be read is left out. Never throws. */
export function readReportedConflicts(reported: readonly ReportedConflict[]): AddressConflict[] {
  return reported.flatMap((conflict) => {
    const address = parseIpv4Address(conflict.address);
    const macAddress = parseMacAddress(conflict.macAddress);
    const usedBy = parseMacAddress(conflict.usedBy ?? '');
    if (address === undefined || macAddress === undefined) return [];
    return [{ address, macAddress, ...(usedBy !== undefined && { usedBy }) }];
  });
}
