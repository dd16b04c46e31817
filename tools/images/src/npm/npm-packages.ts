import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { access, mkdir, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { sha256 } from '../octets.js';
import { runCommand } from '../run-command.js';
import { readTar } from '../tar/read-tar.js';
import { TAR_TYPE } from '../tar/tar-header.js';
import type { NeededPackage } from './lockfile.js';

/** A file of a package, by its path in it. */
export interface PackageFile {
  readonly path: string;
  readonly content: Buffer;
}

/** The files of npm packages: those that are installed in the workspace, and by `npm pack` those of other platforms. */
export class NpmPackages {
  readonly #root: string;
  readonly #folder: string;
  readonly #files = new Map<string, Promise<readonly PackageFile[]>>();

  /** @param folder - Where packages that were fetched stay. */
  constructor(root: string, folder: string) {
    this.#root = root;
    this.#folder = folder;
  }

  /** Files of a program of the workspace, or those of a package whose path `wants` accepts; read once, however many images there are. */
  async filesOf(one: NeededPackage, wants: (path: string) => boolean): Promise<readonly PackageFile[]> {
    const files = this.#files.get(one.key) ?? this.#read(one, wants);
    this.#files.set(one.key, files);
    return await files;
  }

  async #read(one: NeededPackage, wants: (path: string) => boolean): Promise<readonly PackageFile[]> {
    if (one.registry === undefined) return await readFolder(join(this.#root, one.key), isPublished);
    const folder = await this.#installed(one);
    return folder === undefined ? await this.#fetched(one, wants) : await readFolder(folder, wants);
  }

  /** Undefined: not installed, as packages for other processors. */
  async #installed({ key, name }: NeededPackage): Promise<string | undefined> {
    // pnpm names a folder after the package and its peers; a long name ends with a hash.
    const start = key.replace(/\(.*$/, '').replaceAll('/', '+');
    const store = join(this.#root, 'node_modules/.pnpm');
    const folders = (await readdir(store)).filter((folder) => folder === start || folder.startsWith(`${start}_`));
    for (const folder of folders) {
      const path = join(store, folder, 'node_modules', name);
      if (await exists(path)) return await realpath(path);
    }
    return undefined;
  }

  async #fetched({ name, registry }: NeededPackage, wants: (path: string) => boolean): Promise<readonly PackageFile[]> {
    const { version, integrity } = registry ?? { version: '', integrity: '' };
    const path = join(this.#folder, `${sha256(integrity)}.tgz`);
    const kept = await readFile(path).catch(() => undefined);
    const archive = kept !== undefined && isIntact(kept, integrity) ? kept : await this.#fetch(`${name}@${version}`, path);
    if (!isIntact(archive, integrity)) {
      await rm(path, { force: true });
      throw new CommandError(`${name}@${version} of the registry is not that of pnpm-lock.yaml`, ExitCode.invalidData);
    }
    // The archives of npm have one folder, whatever its name is.
    return readTar(await promisify(gunzip)(archive))
      .filter(({ type }) => type === TAR_TYPE.file)
      .map((entry) => ({ path: entry.path.replace(/^[^/]+\//, ''), content: entry.content }))
      .filter(({ path: inside }) => wants(inside));
  }

  async #fetch(specifier: string, path: string): Promise<Buffer> {
    // Another build may fetch the same one at the same time.
    const folder = `${path}.${randomUUID()}.fetch`;
    await mkdir(folder, { recursive: true });
    try {
      await runCommand(['npm', 'pack', specifier, '--silent', '--pack-destination', folder]);
      const [file = ''] = await readdir(folder);
      await rename(join(folder, file), path);
      return await readFile(path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

function isIntact(archive: Buffer, integrity: string): boolean {
  const [algorithm = '', hash] = integrity.split('-', 2);
  return createHash(algorithm).update(archive).digest('base64') === hash;
}

/** True for the files of a program of this workspace: they have everything that it loads and reads. */
function isPublished(path: string): boolean {
  return path === 'package.json' || /^(bin|program)\//.test(path);
}

async function readFolder(folder: string, wants: (path: string) => boolean): Promise<readonly PackageFile[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('node_modules/') && wants(path));
  // One after the other: thousands of open files are more than containers may have.
  return paths.map((path) => ({ path, content: readFileSync(join(folder, path)) }));
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
