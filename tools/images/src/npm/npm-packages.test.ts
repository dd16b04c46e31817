import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { NpmPackages } from './npm-packages.js';
import { isRuntimeFile } from './runtime-files.js';

it('has of a program of the workspace what is published, and not what only its development needs', async () => {
  const root = mkdtempSync(join(tmpdir(), 'vmdhcp-workspace-'));
  const published = ['bin/start.js', 'package.json', 'program/main.js', 'program/page/index.html'];
  for (const path of [...published, 'dist/main.js', 'src/main.ts', 'README.md']) write(join(root, 'packages/one', path));
  const one = { key: 'packages/one', name: 'one', registry: undefined, dependencies: [] };
  const files = await new NpmPackages(root, join(root, 'cache')).filesOf(one, isRuntimeFile);
  expect(files.map(({ path }) => path).toSorted()).toEqual(published);
  rmSync(root, { recursive: true });
});

it('has the files of the page that a browser loads, and the definitions of gRPC services', async () => {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const one = { key: 'packages/controller-cli', name: 'vmdhcp-controller', registry: undefined, dependencies: [] };
  const files = await new NpmPackages(root, join(tmpdir(), 'vmdhcp-no-cache')).filesOf(one, isRuntimeFile);
  const folders = ['status-page/page', 'status-page/dist/browser', 'status-page/dist/model', 'wake-on-lan/proto'];
  const needed = folders.flatMap((folder) =>
    readdirSync(join(root, 'packages', folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(html|css|svg|proto|js)$/.test(name))
      .map((name) => `program/${folder}/${name}`),
  );
  expect(needed).toContain('program/wake-on-lan/proto/wol/v1/wol.proto');
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(needed));
});

function write(path: string): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '{}');
}
