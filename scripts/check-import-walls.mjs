// The linter's import walls, tried: each forbidden import must be refused where it stands, each allowed one accepted. The table of
// scripts/walls.mjs names them; a folder that the table does not name is an error, too.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PACKAGES, toLinterRules } from './walls.mjs';

const PROBE = 'wall-under-test';
/** What a pure package must not contain. */
const IMPURE = ["export * from 'pino';", "import 'node:fs';", 'export const now = Date.now();'];
const PRIVATE_PACKAGE = '@vmdhcp/kube-simulator';

const problems = [...driftProblems(), ...Object.entries(PACKAGES).flatMap(unnamedFolders)];
const trials = Object.entries(PACKAGES).flatMap(trialsOf);
problems.push(...judge(trials));
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${trials.length} imports tried\n`);
process.exit(problems.length === 0 ? 0 : 1);

function driftProblems() {
  const written = JSON.parse(readFileSync('biome.walls.json', 'utf8'));
  const wanted = JSON.parse(JSON.stringify(toLinterRules()));
  return JSON.stringify(written) === JSON.stringify(wanted) ? [] : ['biome.walls.json is not what `npm run generate` writes'];
}

/** A new folder needs its place in the order. */
function unnamedFolders([path, { folders }]) {
  const all = readdirSync(join(path, 'src')).filter((name) => statSync(join(path, 'src', name)).isDirectory());
  if (folders === undefined) {
    const nested = path.startsWith('packages/') ? all.filter((name) => hasCode(path, name)) : [];
    return nested.map((name) => `${path}: folder ${name} has no place in the table of scripts/walls.mjs`);
  }
  const unnamed = all.filter((name) => hasCode(path, name) && !folders.includes(name));
  const gone = folders.filter((name) => !all.includes(name) && !existsSync(join(path, 'src', `${name}.ts`)));
  return [
    ...unnamed.map((name) => `${path}: folder ${name} has no place in the table of scripts/walls.mjs`),
    ...gone.map((name) => `${path}: scripts/walls.mjs names ${name}, which is not there`),
  ];
}

function hasCode(path, name) {
  return globSync(`${path}/src/${name}/**/*.ts`).some((file) => !/(\.test|-fixtures)\.ts$/.test(file));
}

function trialsOf([path, one]) {
  const source = join(path, 'src');
  const refuse = (folder, code) => ({ folder, code, isAccepted: false });
  const accept = (folder, code) => ({ folder, code, isAccepted: true });
  const everywhere = [refuse(source, "export * from '@vmdhcp/ippool-api/src/labels.js';")];
  if (!path.startsWith('tools/'))
    everywhere.push(refuse(source, `export * from '${PRIVATE_PACKAGE}';`), refuse(source, "export * from 'vmdhcp-agent';"));
  if (one.pure) everywhere.push(...IMPURE.map((code) => refuse(source, code)));
  const allowed = (one.imports ?? [])
    .filter((name) => !name.includes('*'))
    .map((name) => accept(source, `export * from '${name}';`));
  return [...everywhere, ...allowed, ...folderTrials(path, one)];
}

function folderTrials(path, { folders = [], pure, edges = {} }) {
  const isFolder = (name) => existsSync(join(path, 'src', name)) && statSync(join(path, 'src', name)).isDirectory();
  return folders.filter(isFolder).flatMap((name, index) => {
    const folder = join(path, 'src', name);
    const at = folders.indexOf(name);
    const later = folders.slice(at + 1).map((other) => ({ folder, code: importOf(other, isFolder), isAccepted: false }));
    const earlier = folders.slice(0, at).map((other) => ({ folder, code: importOf(other, isFolder), isAccepted: true }));
    const impure = pure && !edges[name] ? [{ folder, code: "import 'node:fs';", isAccepted: false }] : [];
    const rootIndex = index === 0 ? [{ folder, code: "export * from '../index.js';", isAccepted: false }] : [];
    return [...later, ...earlier, ...impure, ...rootIndex];
  });
}

function importOf(other, isFolder) {
  return isFolder(other) ? `export * from '../${other}/any.js';` : `export * from '../${other}.js';`;
}

/** The linter judges by path: each trial is a file of its own beside the others for a moment. */
function judge(all) {
  const files = all.map(({ folder }, index) => join(folder, `${PROBE}-${index}.ts`));
  try {
    files.forEach((file, index) => {
      writeFileSync(file, `${all[index].code}\n`);
    });
    const { stdout } = spawnSync(
      'biome',
      [
        'lint',
        '--only=style/noRestrictedImports',
        '--only=style/noRestrictedGlobals',
        '--max-diagnostics=none',
        '--reporter=json',
        ...files,
      ],
      { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 },
    );
    const refused = new Set(JSON.parse(stdout).diagnostics.map(fileOf));
    return all.flatMap(({ folder, code, isAccepted }, index) =>
      refused.has(basename(files[index])) === isAccepted
        ? [`${isAccepted ? 'refused, and should be accepted' : 'accepted, and should be refused'}: in ${folder}: ${code}`]
        : [],
    );
  } finally {
    for (const file of files) rmSync(file, { force: true });
  }
}

function fileOf({ location }) {
  const path = typeof location.path === 'string' ? location.path : (location.path?.file ?? '');
  return basename(path);
}
