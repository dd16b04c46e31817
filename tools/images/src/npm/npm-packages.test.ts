import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { NpmPackages } from './npm-packages.js';
import { isRuntimeFile } from './runtime-files.js';

it('has of a package of the workspace what its sources became, and not what a compiler left of a source that is gone', async () => {
  const root = mkdtempSync(join(tmpdir(), 'vmdhcp-workspace-'));
  for (const path of ['package.json', 'bin/start.js', 'dist/main.js', 'dist/run/gone.js', 'dist/run/here.js'])
    write(join(root, 'packages/one', path));
  for (const path of ['src/main.ts', 'src/run/here.ts']) write(join(root, 'packages/one', path));
  const one = { key: 'packages/one', name: 'one', registry: undefined, dependencies: [] };
  const files = await new NpmPackages(root, join(root, 'cache')).filesOf(one, isRuntimeFile);
  expect(files.map(({ path }) => path).toSorted()).toEqual(['bin/start.js', 'dist/main.js', 'dist/run/here.js', 'package.json']);
  rmSync(root, { recursive: true });
});

it('has the files of the page that a browser loads', async () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const one = { key: 'packages/status-page', name: '@vmdhcp/status-page', registry: undefined, dependencies: [] };
  const files = await new NpmPackages(root, join(tmpdir(), 'vmdhcp-no-cache')).filesOf(one, isRuntimeFile);
  const paths = files.map(({ path }) => path);
  const page = readdirSync(join(root, one.key, 'page')).map((name) => `page/${name}`);
  expect(page).toContain('page/index.html');
  expect(paths).toEqual(expect.arrayContaining([...page, 'dist/browser/main.js', 'dist/model/address-map.js']));
});

function write(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '{}');
}
