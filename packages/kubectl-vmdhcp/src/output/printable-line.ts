/** What others wrote, in objects or in their answers, may have anything in it: nothing of it controls a terminal, or turns the direction of its text. */
import { printableText } from '@vmdhcp/service-process';

/** Of one line, with a space for each character that is none. */
export function printableLine(text: string): string {
  return printableText(text).replaceAll(/[\n\t]/g, ' ');
}

/** A value as JSON has it, with all its texts printable. */
export function printableIn<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? printableLine(each) : each,
  ) as Value;
}
