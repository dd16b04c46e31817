/**
 * Text from others, in objects or responses, may contain anything: none of it may control a terminal, or change the direction of
 * its text.
 */
import { printableText } from '@vmdhcp/service-process';

/** Text on one line: each line break and tab becomes a space. */
export function printableLine(text: string): string {
  return printableText(text).replaceAll(/[\n\t]/g, ' ');
}

/** A value as JSON data, with all its texts printable. */
export function printableIn<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? printableLine(each) : each,
  ) as Value;
}
