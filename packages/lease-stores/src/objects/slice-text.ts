/** Formats records as the text of slices. */
import type { BindingRecord } from '@vmdhcp/dhcp-allocator';
import { formatBindingLine, parseBindingLine } from '../bindings/binding-line.js';
import { describeLost } from '../bindings/describe-lost.js';
import type { LostLine } from '../bindings/opened-records.js';

/** Splits whole lines into texts, each within the limit unless a single line is longer. */
export function* textsOf(records: Iterable<BindingRecord>, mostOctets: number): Generator<string> {
  let text = '';
  for (const record of records) {
    const line = formatBindingLine(record);
    if (text !== '' && text.length + line.length > mostOctets) {
      yield text;
      text = '';
    }
    text += line;
  }
  if (text !== '') yield text;
}

/** The number of records in a text. */
export function countLines(text: string): number {
  let count = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', end + 1)) count++;
  return count;
}

/** Passes the records of a text on, in order, and returns the lines that hold none. Never throws. */
export function readSliceText(text: string, onRecord: (record: BindingRecord) => void): LostLine[] {
  const lost: LostLine[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, line] of lines.entries()) {
    const reading = parseBindingLine(line);
    if (reading.ok) onRecord(reading.record);
    else lost.push({ line: index + 1, reason: reading.reason, lost: describeLost(line) });
  }
  return lost;
}
