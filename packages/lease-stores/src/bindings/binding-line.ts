/**
 * A line of the file of bindings: the CRC-32 of a record's text as eight hexadecimal digits, a space, and the text. This detects
 * a line that was cut, or in which an octet changed.
 */
import { crc32 } from 'node:zlib';
import { type BindingRecord, type BindingRecordFault, formatBindingRecord, parseBindingRecord } from '@vmdhcp/dhcp-allocator';

/** Why a line holds no valid record. */
export type BindingLineFault = BindingRecordFault | 'checksum-wrong';

export type BindingLineReading =
  | { readonly ok: true; readonly record: BindingRecord }
  | { readonly ok: false; readonly reason: BindingLineFault };

const CHECKSUM_DIGITS = 8;

/** One line, including its end. */
export function formatBindingLine(record: BindingRecord): string {
  const text = formatBindingRecord(record);
  return `${checksumOf(text)} ${text}\n`;
}

/** Parses the record of a line without its end; otherwise says why it holds none. Never throws. */
export function parseBindingLine(line: string): BindingLineReading {
  const text = line.slice(CHECKSUM_DIGITS + 1);
  if (line[CHECKSUM_DIGITS] !== ' ' || line.slice(0, CHECKSUM_DIGITS) !== checksumOf(text))
    return { ok: false, reason: 'checksum-wrong' };
  return parseBindingRecord(text);
}

function checksumOf(text: string): string {
  return crc32(text).toString(16).padStart(CHECKSUM_DIGITS, '0');
}
