import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../octets.js';
import { type Layer, LayerPacker } from './layer.js';

let folder: string;
/** Large enough to be kept. */
const LAYER: Layer = {
  title: 'Node',
  entries: [
    { kind: 'file', path: 'usr/bin/node', mode: 0o755, content: Buffer.concat([randomBytes(64), Buffer.alloc(9_000_000)]) },
  ],
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-layers-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('a large layer', () => {
  const damages: readonly (readonly [string, (path: string) => void])[] = [
    ['whole', () => undefined],
    ['cut off', (path) => truncateSync(path, 100)],
    ['empty', (path) => truncateSync(path, 0)],
    ['something else', (path) => writeFileSync(path, 'x'.repeat(1_000))],
  ];

  it.each(damages)('has the digest that the image names, also where the one that was kept is %s', async (_, damage) => {
    const first = await new LayerPacker(folder).pack(LAYER);
    const [kept = ''] = readdirSync(folder);
    damage(join(folder, kept));
    const again = await new LayerPacker(folder).pack(LAYER);
    expect(`sha256:${sha256(gunzipSync(again.compressed))}`).toBe(first.diffId);
    expect(readdirSync(folder)).toEqual([kept]);
    expect(readFileSync(join(folder, kept)).length).toBeGreaterThan(again.compressed.length);
  });
});
