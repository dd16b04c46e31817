import { readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { parse } from 'yaml';

/** The parts of pnpm-lock.yaml (version 9) that decide which packages a program has. */
export interface Lockfile {
  readonly importers: Readonly<Record<string, Importer>>;
  readonly packages: Readonly<Record<string, LockedPackage>>;
  readonly snapshots: Readonly<Record<string, Snapshot>>;
}

interface Importer {
  readonly dependencies?: Readonly<Record<string, { readonly version: string }>>;
  readonly optionalDependencies?: Readonly<Record<string, { readonly version: string }>>;
}

interface LockedPackage {
  readonly resolution: { readonly integrity: string };
  readonly cpu?: readonly string[];
  readonly os?: readonly string[];
  readonly libc?: readonly string[];
}

interface Snapshot {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** A package that a program needs when it runs: a folder of the workspace, or one of the registry. */
export interface NeededPackage {
  /** Path of the folder, or name and version as the lockfile has them: the same for the same package. */
  readonly key: string;
  readonly name: string;
  /** Undefined for a folder of the workspace. */
  readonly registry: { readonly version: string; readonly integrity: string } | undefined;
  /** Their keys. */
  readonly dependencies: readonly string[];
}

/** Where a program runs, in npm's words. */
export interface Platform {
  readonly os: string;
  readonly cpu: string;
}

export async function readLockfile(path: string): Promise<Lockfile> {
  return parse(await readFile(path, 'utf8')) as Lockfile;
}

/** Everything that a folder of the workspace needs when it runs on a platform, by key; what only development needs is not in it. */
export function neededPackages(
  lockfile: Lockfile,
  start: { readonly folder: string; readonly name: string },
  platform: Platform,
): ReadonlyMap<string, NeededPackage> {
  const needed = new Map<string, NeededPackage>();
  const waiting = [{ key: start.folder, name: start.name }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (needed.has(next.key)) continue;
    const dependencies = dependenciesOf(lockfile, next.key).filter(({ key }) =>
      runsOn(lockfile.packages[bareKey(key)], platform),
    );
    needed.set(next.key, { ...next, registry: registryOf(lockfile, next), dependencies: dependencies.map(({ key }) => key) });
    waiting.push(...dependencies);
  }
  return needed;
}

function dependenciesOf(lockfile: Lockfile, key: string): readonly { readonly key: string; readonly name: string }[] {
  const importer = lockfile.importers[key];
  if (importer !== undefined) {
    return Object.entries({ ...importer.dependencies, ...importer.optionalDependencies }).map(([name, { version }]) =>
      version.startsWith('link:')
        ? { key: posix.join(key, version.slice('link:'.length)), name }
        : { key: `${name}@${version}`, name },
    );
  }
  const snapshot = lockfile.snapshots[key];
  if (snapshot === undefined) throw new Error(`pnpm-lock.yaml has no ${key}; run pnpm install`);
  return Object.entries({ ...snapshot.dependencies, ...snapshot.optionalDependencies }).map(([name, version]) => ({
    key: `${name}@${version}`,
    name,
  }));
}

function registryOf(
  lockfile: Lockfile,
  { key, name }: { readonly key: string; readonly name: string },
): NeededPackage['registry'] {
  if (lockfile.importers[key] !== undefined) return undefined;
  const bare = bareKey(key);
  const integrity = lockfile.packages[bare]?.resolution.integrity;
  if (integrity === undefined) throw new Error(`pnpm-lock.yaml has no integrity of ${bare}; run pnpm install`);
  return { version: bare.slice(name.length + 1), integrity };
}

/** Without the versions of peers: `a@1.0.0(b@2.0.0)` is `a@1.0.0`. */
function bareKey(key: string): string {
  return key.replace(/\(.*$/, '');
}

/** Images have the C library of GNU. */
function runsOn(locked: LockedPackage | undefined, { os, cpu }: Platform): boolean {
  return allows(locked?.os, os) && allows(locked?.cpu, cpu) && allows(locked?.libc, 'glibc');
}

function allows(list: readonly string[] | undefined, value: string): boolean {
  return list === undefined || list.includes(value);
}
