import { isResource, type RedfishResource } from './resource.js';

/** The maximum nesting depth. Redfish has about ten. */
export const MOST_DEPTH = 64;

export type ParsedResource =
  | { readonly ok: true; readonly resource: RedfishResource }
  | { readonly ok: false; readonly reason: 'too-deep' | 'not-json' | 'not-an-object' };

/** A JSON text as an object. Never throws: an error of the parser would quote the text, which may contain anything. */
export function parseResource(text: string): ParsedResource {
  if (shapeOf(text).depth > MOST_DEPTH) return { ok: false, reason: 'too-deep' };
  try {
    const value: unknown = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
    return isResource(value) ? { ok: true, resource: value } : { ok: false, reason: 'not-an-object' };
  } catch {
    return { ok: false, reason: 'not-json' };
  }
}

/** The size of a JSON text for the parser. */
export interface TextShape {
  /** The nesting depth of brackets. */
  readonly depth: number;
  /** Values and names at most: brackets that open, commas and colons. */
  readonly values: number;
}

/** Measures any text without parsing it; brackets in JSON strings do not count. */
export function shapeOf(text: string): TextShape {
  let [depth, deepest, values] = [0, 0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfText(text, index);
    const change = CHANGES.get(code);
    if (change === undefined) continue;
    depth += change;
    deepest = Math.max(deepest, depth);
    if (change >= 0) values++;
  }
  return { depth: deepest, values };
}

/** Where the JSON string ends that begins at `start`: at the next quote with an even number of backslashes before it. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The change of the depth for each separator of values. */
const CHANGES: ReadonlyMap<number, number> = new Map([
  [0x2c, 0],
  [0x3a, 0],
  [0x5b, 1],
  [0x7b, 1],
  [0x5d, -1],
  [0x7d, -1],
]);
