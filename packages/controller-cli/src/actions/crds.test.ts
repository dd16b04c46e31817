import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { toYaml } from './crds.js';

function readAs(version: '1.1' | '1.2', text: string): unknown[] {
  return parseAllDocuments(text, { version }).map((document) => document.toJS() as unknown);
}

const WORDS = [
  'Off',
  'on',
  'y',
  'N',
  'No',
  'yes',
  '~',
  'null',
  '0o17',
  '017',
  '1_000',
  '12:30:45',
  '1e3',
  '.5',
  '0b1',
  '<<',
  '=',
];

describe('printed YAML', () => {
  it.each([...WORDS, '2026-01-01'])('%s stays text, as a value and as a key, for parsers of YAML 1.1 and 1.2', (word) => {
    const document = { enum: [word], [word]: word };
    for (const version of ['1.1', '1.2'] as const) expect(readAs(version, toYaml([document]))).toEqual([document]);
  });

  it('`vmdhcp-controller crds` prints YAML that both read like the JSON that it prints', { timeout: 30_000 }, () => {
    const program = fileURLToPath(new URL('../../bin/vmdhcp-controller.js', import.meta.url));
    const run = (...words: string[]) => spawnSync(process.execPath, [program, 'crds', ...words], { encoding: 'utf8' }).stdout;
    const { items } = JSON.parse(run('--json')) as { items: { metadata: { annotations: object } }[] };
    const version = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' }).stdout.trim();
    const annotations = { 'network.harvesterhci.io/applied-by-version': version };
    expect(items.map(({ metadata }) => metadata.annotations)).toEqual([annotations, annotations]);
    for (const version of ['1.1', '1.2'] as const) expect(readAs(version, run())).toEqual(items);
  });
});
