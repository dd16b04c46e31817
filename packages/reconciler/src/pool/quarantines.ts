/** What an IPPool's `status.ipv4.quarantined` says: addresses that somebody unknown uses. */
import { formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { formatTime, isRecord, type KubernetesObject, parseTime, readField, readText } from '@vmdhcp/kube-runtime';

import type { Quarantine } from '../plan-assignments.js';

/** Entries that make no sense are none. */
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

/** As the status has it. */
export function toQuarantined(quarantines: readonly Quarantine[]): Map<string, Readonly<Record<string, string>>> {
  return new Map(
    quarantines.map(({ address, untilMs, usedBy }) => [
      formatIpv4Address(address),
      { until: formatTime(untilMs), ...(usedBy !== undefined && { usedBy }) },
    ]),
  );
}
