import { printableText } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type DataFormat, formatterOf } from './print-data.js';

const READERS: Readonly<Record<DataFormat, (text: string) => unknown>> = { json: JSON.parse, yaml: parse };

describe.each<DataFormat>(['json', 'yaml'])('data as %s', (format) => {
  it.each(['\u009b31mred', '\u001b[2J', '\u007f', '\u202eabc', 'one\u009btwo\nthree: four', 'größer'])(
    'characters that would control a terminal are escaped, with the same meaning: %j',
    async (text) => {
      const value = { items: [{ name: text, [text]: 1 }] };
      const printed = (await formatterOf(format))(value);
      expect(printableText(printed)).toBe(printed);
      expect(READERS[format](printed)).toEqual(value);
    },
  );
});
