import fc from 'fast-check';
import { expect, it } from 'vitest';
import { printable } from './printable.js';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

it.each([
  ['vm-a', 'vm-a'],
  ['\x1b[2J', '\\x1b[2J'],
  ['a\nb\0"\\', 'a\\x0ab\\x00\\x22\\x5c'],
  ['é', '\\xe9'],
  [' ~', ' ~'],
  ['\x1f\x7f\x80', '\\x1f\\x7f\\x80'],
  ['x'.repeat(64), 'x'.repeat(64)],
  [`${'x'.repeat(61)}\n`, `${'x'.repeat(61)}...`],
  ['x'.repeat(100), `${'x'.repeat(64)}...`],
])('%j is shown as %j', (text, shown) => expect(printable(bytes(text))).toBe(shown));

it('law: only printable ASCII, and never long', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (octets) => {
      const shown = printable(octets);
      expect(shown).toMatch(/^[\x20-\x7e]*$/);
      expect(shown.length).toBeLessThanOrEqual(67);
    }),
  );
});
