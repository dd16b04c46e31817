/** The entries of an IPPool's `status.ipv4.quarantined`: addresses that an unknown machine uses. */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { formatTime, isRecord, type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';

/** An address that an unknown machine uses. @see AddressAllocator.quarantine */
export interface Quarantine {
  readonly address: Ipv4Address;
  /** Milliseconds on the caller's clock. */
  readonly untilMs: number;
  /** The machine that uses it, if known. */
  readonly usedBy?: MacAddress;
}

/** Invalid entries are ignored. */
export function readQuarantines({ status }: KubernetesObject): Quarantine[] {
  const recorded = readField(status, 'ipv4', 'quarantined');
  return Object.entries(isRecord(recorded) ? recorded : {}).flatMap(([key, entry]) => {
    const address = parseIpv4Address(key);
    const untilMs = parseTime(readText(entry, 'until'));
    const usedBy = parseMacAddress(readText(entry, 'usedBy') ?? '');
    if (address === undefined || Number.isNaN(untilMs)) return [];
    return [{ address, untilMs, ...(usedBy !== undefined && { usedBy }) }];
  });
}

/** The entry in the status. */
export function toQuarantined(quarantines: readonly Quarantine[]): Map<string, Readonly<Record<string, string>>> {
  return new Map(
    quarantines.map(({ address, untilMs, usedBy }) => [
      formatIpv4Address(address),
      { until: formatTime(untilMs), ...(usedBy !== undefined && { usedBy }) },
    ]),
  );
}
