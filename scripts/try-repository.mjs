// `npm run repository` and its check, tried on a copy of what git tracks: another address is written everywhere, and one that is left is found.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repository } from './repository.mjs';

const copy = mkdtempSync(join(tmpdir(), 'vmdhcp-repository-'));
const problems = [];
try {
  copyTracked();
  expect('the check refuses this repository', check().length > 0, false);
  execFileSync(process.execPath, ['scripts/set-repository.mjs', 'https://github.com/Acme-Net/dhcp', copy]);
  expect('the check refuses what npm run repository wrote', check().length > 0, false);
  expect('the name of an image is not in lower case', /ghcr\.io\/Acme/.test(everything()), false);
  expect('the former address is left', everything().includes(repository.url), false);
  for (const [path, from, to] of [
    ['packages/reconciler/package.json', 'Acme-Net/dhcp/issues', 'elsewhere/dhcp/issues'],
    ['packages/reconciler/package.json', 'workspace:^', 'workspace:*'],
    ['packages/reconciler/package.json', '"provenance": true', '"provenance": false'],
    ['CONTRIBUTING.md', '# Contributing', '# Contributing to https://github.com/elsewhere/vmdhcp'],
    ['CONTRIBUTING.md', '# Contributing', '# ghcr.io/elsewhere/vmdhcp-agent:1'],
  ]) {
    const before = readFileSync(join(copy, path), 'utf8');
    expect(`${path} has no ${from} to try on`, before.includes(from), true);
    writeFileSync(join(copy, path), before.replace(from, to));
    expect(`the check does not refuse ${to} in ${path}`, check().startsWith(path), true);
    writeFileSync(join(copy, path), before);
  }
  const release = (from) => spawnSync(process.execPath, ['scripts/check-repository.mjs', '--release', from]).status;
  expect('a release from another repository is not refused', release('elsewhere/vmdhcp') === 1, true);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

function copyTracked() {
  for (const path of tracked('.')) {
    mkdirSync(join(copy, dirname(path)), { recursive: true });
    cpSync(path, join(copy, path));
  }
  execFileSync('git', ['init', '-q'], { cwd: copy });
  execFileSync('git', ['add', '-A'], { cwd: copy });
}

function tracked(folder) {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: folder, encoding: 'utf8' }).split('\0');
  return listed.filter((path) => path !== '' && existsSync(join(folder, path)));
}

function everything() {
  return tracked(copy)
    .filter((path) => !/^scripts\/(try-)?repository\.mjs$/.test(path))
    .map((path) => readFileSync(join(copy, path), 'utf8'))
    .join('\n');
}

function check() {
  return spawnSync(process.execPath, ['scripts/check-repository.mjs', '--root', copy], { encoding: 'utf8' }).stdout;
}

function expect(problem, found, wanted) {
  if (found !== wanted) problems.push(problem);
}
