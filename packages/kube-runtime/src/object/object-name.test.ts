import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { objectNameWithin } from './object-name.js';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const texts = fc.string({ unit: fc.constantFrom(...'aZ0-_./é€'), maxLength: 100 });

describe('objectNameWithin', () => {
  const options = { suffix: '-agent', of: 'default/net', isAmbiguous: false };

  it.each([
    ['net', 'net-agent'],
    ['n', 'n-agent'],
    ['0', '0-agent'],
    ['net-48-a', 'net-48-a-agent'],
    ['a'.repeat(57), `${'a'.repeat(57)}-agent`],
  ])('%s is a short enough label: the name is readable', (text, name) => {
    expect(objectNameWithin(text, options)).toBe(name);
  });

  it.each([
    ['default/net', 'default-net-5fa86a08-agent'],
    ['Net', 'net-5fa86a08-agent'],
    ['net-', 'net-5fa86a08-agent'],
    ['net--', 'net-5fa86a08-agent'],
    ['-net', 'net-5fa86a08-agent'],
    ['_.net', 'net-5fa86a08-agent'],
    ['net_48.a', 'net-48-a-5fa86a08-agent'],
    ['ne--t.', 'ne--t-5fa86a08-agent'],
    ['é', '5fa86a08-agent'],
    ['a'.repeat(58), `${'a'.repeat(48)}-5fa86a08-agent`],
    [`${'a'.repeat(47)}-${'b'.repeat(20)}`, `${'a'.repeat(47)}-5fa86a08-agent`],
  ])('%s is not a label, or too long: a part of it and a hash', (text, name) => {
    expect(objectNameWithin(text, options)).toBe(name);
  });

  it('a text that something else could have gets a hash of the identity', () => {
    const names = ['a/net', 'b/net'].map((of) => objectNameWithin('net', { suffix: '', of, isAmbiguous: true }));
    expect(names).toEqual([expect.stringMatching(/^net-[0-9a-f]{8}$/), expect.stringMatching(/^net-[0-9a-f]{8}$/)]);
    expect(new Set(names).size).toBe(2);
  });

  it('`most` limits the length of the whole name', () => {
    expect(objectNameWithin('abcdefgh', { suffix: '-x', of: 'abc', isAmbiguous: false, most: 10 })).toBe('abcdefgh-x');
    expect(objectNameWithin('abcdefghijk', { suffix: '-x', of: 'abc', isAmbiguous: false, most: 12 })).toMatch(
      /^a-[0-9a-f]{8}-x$/,
    );
  });

  it('law: the name is a label of at most 63 characters, whatever the text is', () => {
    fc.assert(
      fc.property(texts, fc.boolean(), (text, isAmbiguous) => {
        const name = objectNameWithin(text, { suffix: '-agent', of: text, isAmbiguous });
        expect(name).toMatch(LABEL);
        expect(name.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});
