// npm run demo -- --clean: removes what the scripts of this repository installed and built: here, and in the stores of npm and pnpm, which keep what other
// projects use.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

for (const path of globSync('{.,packages/*,tools/*}/{node_modules,dist,program,.turbo,.vmdhcp}', { cwd: ROOT }))
  remove(join(ROOT, path));
process.stdout.write('pnpm removes what no project links to ...\n');
spawnSync('npx', ['-y', packageManager, 'store', 'prune'], { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
for (const folder of npxFolders()) remove(folder);
process.exit(0);

function remove(path) {
  rmSync(path, { recursive: true, force: true });
  process.stdout.write(`removed ${path}\n`);
}

/** Where npx keeps the pnpm of this repository, and nothing else. */
function npxFolders() {
  const cache =
    spawnSync('npm', ['config', 'get', 'cache'], { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() || join(homedir(), '.npm');
  const folder = join(cache, '_npx');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => isOurs(join(path, 'package.json')));
}

function isOurs(manifest) {
  if (!existsSync(manifest)) return false;
  const { _npx: npx } = JSON.parse(readFileSync(manifest, 'utf8'));
  return JSON.stringify(npx?.packages) === JSON.stringify([packageManager]);
}
