import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Architecture } from './architecture.js';
import type { DebianArchive } from './debian/debian-archive.js';
import { type DebianLock, readDebianLock } from './debian/debian-lock.js';
import { systemFiles } from './debian/system-files.js';
import { type Lockfile, neededPackages, readLockfile } from './npm/lockfile.js';
import type { NpmPackages } from './npm/npm-packages.js';
import { placePackages } from './npm/place-packages.js';
import { type InstalledPackage, readPackages, toEntries } from './npm/program-files.js';
import type { Layer } from './oci/layer.js';
import { NODE_PATH, type ProgramImage } from './program-image.js';
import { type FileEntry, type ImageEntry, textFile } from './tree/image-entry.js';

/** Where the parts of images come from. */
export interface PartSources {
  /** The root folder of the workspace. */
  readonly root: string;
  readonly packages: NpmPackages;
  readonly archive: DebianArchive;
}

/** The parts of one image, and what they are. */
export interface ImageContent {
  readonly layers: readonly Layer[];
  readonly packages: readonly InstalledPackage[];
  readonly node: InstalledPackage;
  readonly debian: DebianLock;
}

const EXECUTABLE = 0o755;

/** Layers from what changes least to what changes most: an upgrade transfers the last ones only. */
export async function imageLayers(
  program: ProgramImage,
  architecture: Architecture,
  { root, packages: source, archive }: PartSources,
): Promise<ImageContent> {
  const [lockfile, debian] = await Promise.all([readLockfile(join(root, 'pnpm-lock.yaml')), readDebianLock()]);
  const start = { folder: program.folder, name: program.packageName };
  const needed = neededPackages(lockfile, start, { os: 'linux', cpu: architecture.npm });
  const [packages, node, libraries, licence] = await Promise.all([
    readPackages(placePackages(needed, program.folder), source),
    readNode(lockfile, architecture, source),
    Promise.all(debian.packages.map((one) => archive.filesOf(one, architecture, debian))),
    readFile(join(root, 'LICENSE'), 'utf8'),
  ]);
  const isOurs = ({ package: one }: InstalledPackage) => one.registry === undefined;
  const layers = [
    { title: `C and C++ libraries of Debian ${debian.version}`, entries: [...systemFiles(debian), ...libraries.flat()] },
    { title: `Node ${node.manifest.version}`, entries: nodeEntries(node, program) },
    { title: 'packages of npm', entries: toEntries(packages.filter((one) => !isOurs(one))) },
    {
      title: program.packageName,
      entries: [...toEntries(packages.filter(isOurs)), textFile('usr/share/doc/vmdhcp/copyright', licence)],
    },
  ];
  return { layers, packages, node, debian };
}

/** The packages of a program, and Node, as files. */
export async function npmParts(
  { folder, packageName }: ProgramImage,
  architecture: Architecture,
  { root, packages: source }: PartSources,
): Promise<{ readonly packages: readonly FileEntry[]; readonly node: FileEntry }> {
  const lockfile = await readLockfile(join(root, 'pnpm-lock.yaml'));
  const needed = neededPackages(lockfile, { folder, name: packageName }, { os: 'linux', cpu: architecture.npm });
  const packages = toEntries(await readPackages(placePackages(needed, folder), source));
  return { packages, node: programOf(await readNode(lockfile, architecture, source)) };
}

/** Node as npm has it, the version that the workspace pins. */
async function readNode(lockfile: Lockfile, { npm }: Architecture, source: NpmPackages): Promise<InstalledPackage> {
  const name = `node-linux-${npm}`;
  const version = lockfile.importers['.']?.optionalDependencies?.[name]?.version ?? '';
  const key = `${name}@${version}`;
  const integrity = lockfile.packages[key]?.resolution.integrity;
  if (integrity === undefined) throw new Error(`pnpm-lock.yaml has no ${name}, an optional dependency of the workspace`);
  const node = { key, name, registry: { version, integrity }, dependencies: [] };
  const files = await source.filesOf(node, (path) => path === 'bin/node' || path === 'LICENSE');
  return { path: name, package: node, files, manifest: { version, license: 'MIT' } };
}

function nodeEntries(node: InstalledPackage, { capabilities }: ProgramImage): readonly ImageEntry[] {
  const program = programOf(node);
  return [
    capabilities.length === 0 ? program : { ...program, capabilities },
    textFile('usr/share/doc/nodejs/copyright', contentOf(node, 'LICENSE').toString('utf8')),
  ];
}

function programOf(node: InstalledPackage): FileEntry {
  return { kind: 'file', path: NODE_PATH, mode: EXECUTABLE, content: contentOf(node, 'bin/node') };
}

function contentOf({ files }: InstalledPackage, path: string): Buffer {
  return files.find((file) => file.path === path)?.content ?? Buffer.alloc(0);
}
