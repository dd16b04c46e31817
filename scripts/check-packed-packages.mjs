// Each publishable package as a user gets it: packed, installed into an empty project, its README's example run in plain
// Node and type-checked under strict TypeScript, looked at by publint and its types by attw, and what `npm publish` would send to the registry.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { packPackage } from './packed-packages.mjs';
import { publishedPackages } from './repository.mjs';

const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-packed-'));
try {
  const packages = publishedPackages().map(({ folder: path, manifest }) => ({ path: resolve(path), manifest }));
  for (const name of ['vmdhcp-controller', 'kubectl-vmdhcp']) checkOtherSystems(packages, name);
  packages.forEach(checkImports);
  for (const one of packages.filter(isProgram)) checkVersions(one, packages);
  const tarballs = packages.map(({ path }) => packPackage({ folder: path }, folder));
  for (const tarball of tarballs) await lint(tarball);
  tryPublish(tarballs);
  const project = install(tarballs);
  const examples = [];
  for (const [index, one] of packages.entries()) {
    examples.push(...tryReadme(one, project));
    if (one.manifest.exports['.'] !== undefined) await checkResolution(tarballs[index]);
  }
  for (const { manifest } of packages.filter((one) => !isProgram(one))) checkMaps(join(project, 'node_modules', manifest.name));
  checkTypes('tsc', examples, project);
  checkTypes(join(project, 'node_modules/.bin/tsc'), examples, project);
  for (const program of ['vmdhcp-agent', 'vmdhcp-controller', 'kubectl-vmdhcp'])
    run(join(project, 'node_modules', '.bin', program), ['--help'], project);
  // A process of its own parses the file.
  run(join(project, 'node_modules', '.bin', 'vmdhcp-agent'), ['check', resolve('examples/two-networks.yaml')], project);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Bundlers and Node find what the manifest names. */
async function lint(tarball) {
  const { buffer, byteOffset, byteLength } = readFileSync(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: buffer.slice(byteOffset, byteOffset + byteLength) }, strict: true });
  const wrong = messages.filter(({ type }) => type === 'error').map((message) => formatMessage(message, pkg, { color: false }));
  if (wrong.length > 0) throw new Error(`${pkg.name}: publint:\n${wrong.join('\n')}`);
}

/** TypeScript finds the types of every entry point as Node finds its code. Our packages are ES modules alone. */
async function checkResolution(tarball) {
  const { packageName, types, problems } = await checkPackage(
    createPackageFromTarballData(new Uint8Array(readFileSync(tarball))),
  );
  if (types === false) throw new Error(`${packageName} has no types`);
  const wrong = problems.filter(({ resolutionKind }) => !['node10', 'node16-cjs'].includes(resolutionKind));
  if (wrong.length > 0) throw new Error(`${packageName}: types are not found as code is: ${JSON.stringify(wrong)}`);
}

/** npm takes the packages as they are, and users get ranges that later versions of our packages satisfy. */
function tryPublish(tarballs) {
  const unpacked = join(folder, 'unpacked');
  for (const tarball of tarballs) {
    const own = join(unpacked, basename(tarball, '.tgz'));
    mkdirSync(own, { recursive: true });
    run('tar', ['-xzf', tarball, '--strip-components=1'], own);
    const { name, version, dependencies, optionalDependencies } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));
    const wrong = Object.entries({ ...dependencies, ...optionalDependencies }).filter(
      ([dependency, range]) => dependency.startsWith('@vmdhcp/') && range !== `^${version}`,
    );
    if (wrong.length > 0) throw new Error(`${name} would be published with ${JSON.stringify(wrong)}; expected ^${version}`);
  }
  writeFileSync(join(unpacked, 'package.json'), JSON.stringify({ private: true, workspaces: ['*'] }));
  const { status, stdout, stderr } = spawnSync(
    'npm',
    // Its warnings are looked at, however quiet the caller is.
    ['publish', '--loglevel=notice', '--workspaces', '--ignore-scripts', '--dry-run', '--provenance', '--access', 'public'],
    { cwd: unpacked, encoding: 'utf8' },
  );
  if (status !== 0 || stderr.includes('auto-corrected')) throw new Error(`npm publish refuses or corrects packages:\n${stderr}`);
  const count = stdout.match(/^\+ /gm)?.length ?? 0;
  if (count !== tarballs.length) throw new Error(`npm publish would send ${count} packages of ${tarballs.length}:\n${stdout}`);
}

/** One empty project with all of them, as README installs what `npm run packages` packed: they need each other, and none is on a registry yet. */
function install(tarballs) {
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  run(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      `typescript@${oldestTypescript()}`,
      ...tarballs,
    ],
    project,
  );
  return project;
}

/** What docs/compatibility.md promises to users of the types. */
function oldestTypescript() {
  const [, version] =
    /^\| TypeScript for users .*?TypeScript (\d+\.\d+\.\d+)/m.exec(readFileSync('docs/compatibility.md', 'utf8')) ?? [];
  if (version === undefined) throw new Error('docs/compatibility.md names no oldest TypeScript');
  return version;
}

/** An editor goes from an import to the source, and a debugger steps through it. */
function checkMaps(path) {
  const modules = globSync('**/*.ts', { cwd: join(path, 'src') }).map((file) => file.replace(/\.ts$/, ''));
  if (modules.length === 0) throw new Error(`${path} has no sources`);
  for (const map of modules.flatMap((name) => [`${name}.js.map`, `${name}.d.ts.map`])) {
    const file = join(path, 'dist', map);
    const { sources } = JSON.parse(readFileSync(file, 'utf8'));
    const missing = sources.filter((source) => !existsSync(resolve(dirname(file), source)));
    if (missing.length > 0) throw new Error(`${file} names ${missing.join(', ')}, which the package does not have`);
  }
}

/** Its modules are joined: it is run, and never imported. */
function isProgram({ manifest }) {
  return manifest.bin !== undefined;
}

/** A package that another one happens to bring along is missing where each has its own. */
function checkImports({ path, manifest }) {
  const modules = isProgram({ manifest }) ? 'program' : 'dist';
  const { name, dependencies, optionalDependencies, peerDependencies } = manifest;
  const declared = new Set([name, ...Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })]);
  const used = new Set();
  for (const file of globSync(join(path, modules, '**/*.js'))) {
    for (const [, quoted, imported = quoted] of readFileSync(file, 'utf8').matchAll(
      /(?:^(?:import|export)[^'"]*? from |^import |\bimport\()(?:'([^.'][^']*)'|"([^."][^"]*)")/gm,
    )) {
      const [first = '', second] = (imported ?? '').split('/');
      const wanted = first.startsWith('@') ? `${first}/${second}` : first;
      if (first !== '' && !first.startsWith('node:') && !declared.has(wanted))
        throw new Error(`${name} imports ${wanted} in ${file} and does not depend on it`);
      used.add(wanted);
    }
  }
  const unused = Object.keys(dependencies ?? {}).filter((one) => isProgram({ manifest }) && !used.has(one));
  if (unused.length > 0) throw new Error(`${name} depends on ${unused.join(', ')} and does not import it`);
}

/** The code of libraries in a program runs on what they are tested with. */
function checkVersions({ manifest: { name, dependencies } }, packages) {
  for (const { manifest } of packages)
    for (const [dependency, version] of Object.entries(manifest.dependencies ?? {}))
      if ((dependencies[dependency] ?? version) !== version)
        throw new Error(
          `${name} has ${dependency} ${dependencies[dependency]}, ${manifest.name} ${version}; give both the same version`,
        );
}

/** People check manifests and ask clusters from other systems than Linux: what only Linux has must be optional there. */
function checkOtherSystems(packages, name) {
  const manifests = new Map(packages.map(({ manifest }) => [manifest.name, manifest]));
  const needed = new Set([name]);
  for (const one of needed) for (const dependency of Object.keys(manifests.get(one)?.dependencies ?? {})) needed.add(dependency);
  const limited = [...needed].filter((one) => manifests.get(one)?.os !== undefined);
  if (limited.length > 0)
    throw new Error(`${name} installs on Linux alone, as it needs ${limited.join(', ')}; make that optional`);
}

/** @returns the examples as files of TypeScript. */
function tryReadme({ path, manifest }, project) {
  const readme = readFileSync(join(path, 'README.md'), 'utf8');
  const examples = [...readme.matchAll(/^```js\n(.*?)^```(?:\n\nIt prints\n\n```\n(.*?)^```)?/gms)];
  const name = manifest.name.replace(/\W+/g, '-');
  const files = [];
  examples.forEach(([, code, printed], index) => {
    const file = `example${name}-${index}`;
    writeFileSync(join(project, `${file}.mjs`), code);
    const output = run(process.execPath, [`${file}.mjs`], project);
    if (printed !== undefined && output !== printed) throw new Error(`the example of ${manifest.name} prints\n${output}`);
    if (output.trim() === '') throw new Error(`the example of ${manifest.name} prints nothing`);
    writeFileSync(join(project, `${file}.mts`), code);
    files.push(`${file}.mts`);
  });
  process.stdout.write(`${manifest.name}: ${examples.length} example(s)\n`);
  return files;
}

/** All at once: most of the time goes into reading the types of dependencies. */
function checkTypes(tsc, files, project) {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false };
  const target = { module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: [], noEmit: true };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, ...target }, files }));
  run(tsc, ['--project', '.'], project);
}

function run(command, parameters, cwd) {
  try {
    return execFileSync(command, parameters, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`${command} ${parameters.join(' ')}\n${error.stdout}${error.stderr}`, { cause: error });
  }
}
