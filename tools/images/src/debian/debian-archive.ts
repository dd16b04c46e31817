import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { ARCHITECTURES, type Architecture } from '../architecture.js';
import { sha256 } from '../octets.js';
import { runCommand } from '../run-command.js';
import type { ImageEntry } from '../tree/image-entry.js';
import { debianFiles } from './debian-files.js';
import type { DebianLock, LockedDebianPackage } from './debian-lock.js';

export const DEBIAN_MIRROR = 'http://deb.debian.org';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The packages of Debian's archive, by apt with a state of its own: what this machine has installed or configured to install does not matter. */
export class DebianArchive {
  readonly #folder: string;
  readonly #mirror: string;
  readonly #files = new Map<string, Promise<readonly ImageEntry[]>>();
  #updated: Promise<unknown> | undefined;

  /** @param folder - Where files that were fetched stay. */
  constructor(folder: string, mirror = DEBIAN_MIRROR) {
    this.#folder = folder;
    this.#mirror = mirror;
  }

  /** What of a package is in images; read once, however many images there are. */
  async filesOf(one: LockedDebianPackage, architecture: Architecture, lock: DebianLock): Promise<readonly ImageEntry[]> {
    const key = one.sha256[architecture.name];
    const files =
      this.#files.get(key) ?? this.fetch(one, architecture, lock).then((path) => debianFiles(path, one.name, architecture));
    this.#files.set(key, files);
    return await files;
  }

  /** The file of a package as it is locked. @throws CommandError if the archive no longer has it, or has another one. */
  async fetch(one: LockedDebianPackage, architecture: Architecture, lock: DebianLock): Promise<string> {
    const wanted = one.sha256[architecture.name];
    const path = join(this.#folder, `${wanted}.deb`);
    if (await hasContent(path, wanted)) return path;
    await this.update(lock.suite);
    const folder = join(this.#folder, `fetch-${one.name}-${architecture.name}-${randomUUID()}`);
    await mkdir(folder, { recursive: true });
    try {
      await this.#apt(['download', `${one.name}:${architecture.name}=${one.version}`], folder);
      const [file = ''] = await readdir(folder);
      const content = await readFile(join(folder, file));
      if (sha256(content) !== wanted)
        throw new CommandError(`${file} is not the file of tools/images/debian-lock.json; ${REMEDY}`, ExitCode.invalidData);
      await rename(join(folder, file), path);
    } catch (error) {
      throw error instanceof CommandError
        ? new CommandError(`${error.message}\n${REMEDY}`, error.exitCode, { cause: error })
        : error;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return path;
  }

  /** Reads the archive's lists, once. */
  async update(suite: string): Promise<void> {
    this.#updated ??= this.#prepare(suite).then(() => this.#readLists());
    await this.#updated;
  }

  /** The current version of a package, with the SHA-256 of its files. */
  async current(name: string): Promise<LockedDebianPackage> {
    const records = await Promise.all(
      ARCHITECTURES.map(async (architecture) => {
        const record = (
          await this.#run('apt-cache', ['show', '--no-all-versions', `${name}:${architecture.name}`], this.#folder)
        ).toString();
        const field = (key: string) => new RegExp(`^${key}: (.*)$`, 'm').exec(record)?.[1] ?? '';
        return { architecture: architecture.name, version: field('Version'), sha256: field('SHA256') };
      }),
    );
    const [first] = records;
    if (first === undefined || records.some(({ version }) => version !== first.version))
      throw new CommandError(`${name} has another version for each architecture; try again later`, ExitCode.unavailable);
    const hashes = Object.fromEntries(records.map(({ architecture, sha256: hash }) => [architecture, hash]));
    return { name, version: first.version, sha256: hashes as LockedDebianPackage['sha256'] };
  }

  /** By itself, apt-get goes on with the lists that it has where it reaches no archive. */
  async #readLists(): Promise<void> {
    try {
      await this.#apt(['update', '-o', 'APT::Update::Error-Mode=any'], this.#folder);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const message = `the lists of Debian's archive at ${this.#mirror} cannot be read; check the network, or name another mirror (--debian-mirror)`;
      throw new CommandError(`${message}\n${error.message}`, error.exitCode, { cause: error });
    }
  }

  async #prepare(suite: string): Promise<void> {
    for (const folder of ['state/lists/partial', 'cache/archives/partial', 'sources'])
      await mkdir(join(this.#folder, folder), { recursive: true });
    await writeFile(join(this.#folder, 'status'), '');
    const source = (path: string, name: string) => `deb [signed-by=${KEYRING}] ${this.#mirror}/${path} ${name} main\n`;
    const sources = [
      source('debian', suite),
      source('debian', `${suite}-updates`),
      source('debian-security', `${suite}-security`),
    ];
    await writeFile(join(this.#folder, 'sources.list'), sources.join(''));
  }

  #apt(parameters: readonly string[], cwd: string): Promise<Buffer> {
    return this.#run('apt-get', ['-qq', ...parameters], cwd);
  }

  #run(program: string, parameters: readonly string[], cwd: string): Promise<Buffer> {
    const settings = [
      `Dir::State=${join(this.#folder, 'state')}`,
      `Dir::State::status=${join(this.#folder, 'status')}`,
      `Dir::Cache=${join(this.#folder, 'cache')}`,
      `Dir::Etc::sourcelist=${join(this.#folder, 'sources.list')}`,
      `Dir::Etc::sourceparts=${join(this.#folder, 'sources')}`,
      `APT::Architecture=${ARCHITECTURES[0]?.name}`,
      ...ARCHITECTURES.map(({ name }) => `APT::Architectures::=${name}`),
      'APT::Sandbox::User=root',
      'Acquire::Languages=none',
    ];
    return runCommand([program, ...settings.flatMap((setting) => ['-o', setting]), ...parameters], { cwd });
  }
}

const REMEDY = `Debian's archive keeps only the newest versions. Either pin those ("npm run images -- update-debian"), or name a mirror that keeps all of
them (--debian-mirror).`;

async function hasContent(path: string, wanted: string): Promise<boolean> {
  try {
    return sha256(await readFile(path)) === wanted;
  } catch {
    return false;
  }
}
