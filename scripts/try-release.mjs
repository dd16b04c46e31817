// What a maintainer does before a release, tried on a copy of what git tracks: another address is written everywhere, and one that is left is found; the
// changesets become versions, CHANGELOGs and notes.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describePublished, publishedPackages, repository } from './repository.mjs';

const AUTHOR = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
/** One in so many is tried. */
const TRIED_CHANGESETS = 8;
const copy = mkdtempSync(join(tmpdir(), 'vmdhcp-repository-'));
const problems = [];
try {
  copyTracked();
  expect('the check refuses this repository', check().length > 0, false);
  execFileSync(process.execPath, ['scripts/set-repository.mjs', 'https://github.com/Acme-Net/dhcp', copy]);
  expect('the check refuses what set-repository.mjs wrote', check().length > 0, false);
  expect('the name of an image is not in lower case', /ghcr\.io\/Acme/.test(everything()), false);
  expect('the former address is left', everything().includes(repository.url), false);
  expect(
    'README still states that nothing is published',
    readFileSync(join(copy, 'README.md'), 'utf8').includes(describePublished(repository)),
    false,
  );
  for (const [path, from, to] of [
    ['README.md', 'Packages are published on npm', 'Packages are nowhere'],
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
  tryVersion();
} finally {
  rmSync(copy, { recursive: true, force: true });
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

/** All changesets can be read. A release of some of them gives all packages one new version, and its notes have each changeset once. */
function tryVersion() {
  const all = tracked(copy).filter((path) => /^\.changeset\/.*\.md$/.test(path));
  if (all.length === 0) return;
  const { status, stderr, stdout } = spawnSync('changeset', ['status'], { cwd: copy, encoding: 'utf8' });
  if (status !== 0) problems.push(`changesets cannot be read: ${stdout}${stderr}`);
  // A version looks for the commit of each changeset, which takes 40 ms.
  const changesets = all.filter((_, index) => index % TRIED_CHANGESETS === 0);
  for (const path of all.filter((one) => !changesets.includes(one))) rmSync(join(copy, path));
  execFileSync('changeset', ['version'], { cwd: copy, stdio: 'ignore' });
  const versions = new Set(publishedPackages(copy).map(({ manifest }) => manifest.version));
  expect(`packages have the versions ${[...versions].join(', ')}`, versions.size, 1);
  const [version = ''] = versions;
  const notes = spawnSync(process.execPath, ['scripts/print-notes.mjs', version], { cwd: copy, encoding: 'utf8' }).stdout;
  const entries = notes.match(/^- .*$/gm) ?? [];
  const written = readFileSync(join(copy, 'packages/controller-cli/CHANGELOG.md'), 'utf8');
  expect('the notes lack a changeset', entries.length < changesets.length, false);
  expect('an entry is there twice', new Set(entries).size, entries.length);
  expect('a CHANGELOG names our own packages as news', /Updated dependencies/.test(written), false);
}

function copyTracked() {
  for (const path of tracked('.')) {
    mkdirSync(join(copy, dirname(path)), { recursive: true });
    cpSync(path, join(copy, path));
  }
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: copy });
  execFileSync('git', ['add', '-A'], { cwd: copy });
  execFileSync('git', [...AUTHOR, 'commit', '-q', '-m', 'A copy'], { cwd: copy });
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
