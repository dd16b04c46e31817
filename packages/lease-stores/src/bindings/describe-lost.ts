import { formatIpv4Address, parseBindingRecord } from '@vmdhcp/dhcp-allocator';

const SHOWN_CHARACTERS = 160;

/** Describes the lease that was probably in an invalid line; otherwise shows how the line begins. */
export function describeLost(line: string): string {
  const reading = parseBindingRecord(line.slice(line.indexOf('{')));
  if (!reading.ok) return `it begins with ${JSON.stringify(line.slice(0, SHOWN_CHARACTERS))}`;
  const { record } = reading;
  const place = `${formatIpv4Address(record.address)} of pool ${record.poolName}`;
  return record.kind === 'binding' ? `the lease of ${place} to ${record.macAddress}` : `the quarantine of ${place}`;
}
