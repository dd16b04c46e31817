import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const STYLE = readFileSync(new URL('../../page/style.css', import.meta.url), 'utf8');

/** The custom properties of the first `:root` (light) or of the second one (dark). */
function readColours(scheme: 'light' | 'dark'): ReadonlyMap<string, string> {
  const blocks = [...STYLE.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) => block);
  const block = blocks[scheme === 'light' ? 0 : 1] ?? '';
  return new Map([...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name = '', colour = '']) => [name, colour]));
}

/** Source: WCAG 2.2, "relative luminance". */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Source: WCAG 2.2, "contrast ratio". */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const BACKGROUNDS = ['page', 'surface', 'raised'];
const TEXTS = ['text', 'soft', 'link', 'ok', 'note', 'waiting', 'broken'];

describe.each(['light', 'dark'] as const)('colours, %s', (scheme) => {
  const colours = readColours(scheme);
  const of = (name: string): string => {
    const colour = colours.get(name);
    if (colour === undefined) throw new Error(`the style sheet has no --${name} for ${scheme}`);
    return colour;
  };

  it.each(TEXTS.flatMap((text) => BACKGROUNDS.map((background) => [text, background] as const)))(
    'WCAG 1.4.3: text %s on %s has a contrast of 4.5 or more',
    (text, background) => {
      expect(contrast(of(text), of(background))).toBeGreaterThanOrEqual(4.5);
    },
  );

  it.each(
    ['edge', 'focus', 'used', 'reserved', 'quarantined', 'server', 'router'].flatMap((part) =>
      ['page', 'surface'].map((background) => [part, background] as const),
    ),
  )('WCAG 1.4.11: %s on %s has a contrast of 3 or more', (part, background) => {
    expect(contrast(of(part), of(background))).toBeGreaterThanOrEqual(3);
  });

  it.each(['used', 'reserved', 'quarantined', 'server', 'router'])(
    '%s differs from free addresses by a contrast of 3 or more',
    (state) => {
      expect(contrast(of(state), of('free'))).toBeGreaterThanOrEqual(3);
    },
  );

  it('has every colour of the other scheme too', () => {
    const other = readColours(scheme === 'light' ? 'dark' : 'light');
    expect([...colours.keys()]).toEqual([...other.keys()]);
    expect(colours.size).toBeGreaterThan(20);
  });
});
