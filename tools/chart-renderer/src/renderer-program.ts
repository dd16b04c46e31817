/** The program that renders: Go sources, built once for their content. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../go', import.meta.url));
/** Where Debian's packages of Go libraries are. */
const GO_PATH = '/usr/share/gocode';
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/vmdhcp-chart-renderer', import.meta.url));

/** What it is built from, by the Debian package that has it. */
const PARTS: Readonly<Record<string, string>> = {
  'golang-go': '/usr/bin/go',
  'golang-github-masterminds-sprig-dev': `${GO_PATH}/src/github.com/Masterminds/sprig`,
  'golang-k8s-sigs-yaml-dev': `${GO_PATH}/src/sigs.k8s.io/yaml`,
};

/** Debian packages that have to be installed before a chart can be rendered; none: it can. */
export function missingPackages(): readonly string[] {
  return Object.entries(PARTS).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
}

/** Set where every real part must be there: what is missing then fails instead of being skipped. */
const REQUIRE_ALL_VARIABLE = 'VMDHCP_REQUIRE_REAL_PARTS';

/**
 * False if a test that renders a chart is to be skipped.
 * @throws Error naming the packages to install, where none may be missing.
 */
export function hasRenderer(): boolean {
  const missing = missingPackages();
  if (missing.length > 0 && process.env[REQUIRE_ALL_VARIABLE] === '1')
    throw new Error(`not installed: ${missing.join(', ')} (apt-get install)`);
  return missing.length === 0;
}

/** For the name of such a test: what it needs. */
export const NEEDS_RENDERER = `[needs the Debian packages ${Object.keys(PARTS).join(', ')}]`;

/** The path of the program, which is built first where that is needed. @throws Error where a package is missing, or Go refuses. */
export function rendererProgram(): string {
  const program = join(CACHE, sourcesHash(), 'chart-renderer');
  if (existsSync(program)) return program;
  const missing = missingPackages();
  if (missing.length > 0) throw new Error(`charts are rendered by Go; run: apt-get install ${missing.join(' ')}`);
  mkdirSync(join(program, '..'), { recursive: true });
  // Several processes may build it at the same time: what is there is always complete.
  const built = `${program}.${process.pid}`;
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: GO_PATH, GOCACHE: join(CACHE, 'go'), GOFLAGS: '', CGO_ENABLED: '0' };
  const { status, stderr } = spawnSync('/usr/bin/go', ['build', '-o', built, '.'], { cwd: SOURCES, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`go build failed in ${SOURCES}:\n${stderr}`);
  renameSync(built, program);
  return program;
}

function sourcesHash(): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(SOURCES).toSorted()) hash.update(file).update(readFileSync(join(SOURCES, file)));
  return hash.digest('hex').slice(0, 16);
}
