import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text as readStream } from 'node:stream/consumers';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { ManifestFile } from './read-objects.js';

const MANIFEST = /\.(ya?ml|json)$/i;
const LARGEST_FILE_OCTETS = 64 << 20;

/**
 * Finds the files to check: named files, the manifests in named folders and their subfolders, and `-` for the standard input.
 * @throws CommandError
 */
export async function findManifestFiles(names: readonly string[]): Promise<ManifestFile[]> {
  const paths = (await Promise.all(names.map(pathsOf))).flat();
  const files: ManifestFile[] = [];
  for (const name of new Set(paths)) files.push({ name: name === '-' ? '<stdin>' : name, text: await textOf(name) });
  if (files.length === 0)
    throw new CommandError(
      `${names.join(', ')}: no file ends with .yaml, .yml or .json; give the name of a file`,
      ExitCode.noInput,
    );
  return files;
}

async function pathsOf(name: string): Promise<string[]> {
  if (name === '-') return [name];
  const found = await stat(name).catch((error: unknown) => refuse(name, error));
  if (!found.isDirectory()) return [name];
  const entries = await readdir(name, { recursive: true, withFileTypes: true }).catch((error: unknown) => refuse(name, error));
  return entries
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function textOf(name: string): Promise<string> {
  if (name === '-') return readStream(process.stdin);
  const octets = await readFile(name).catch((error: unknown) => refuse(name, error));
  if (octets.length > LARGEST_FILE_OCTETS)
    throw new CommandError(`${name}: has ${octets.length} octets; split it up`, ExitCode.noInput);
  return octets.toString('utf8');
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read by this user',
};

function refuse(name: string, error: unknown): never {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = REASONS[code] ?? `cannot be read (${message})`;
  throw new CommandError(
    `${name}: ${why}; give the name of a file or a folder with manifests, or - for the standard input`,
    ExitCode.noInput,
    {
      cause: error,
    },
  );
}
