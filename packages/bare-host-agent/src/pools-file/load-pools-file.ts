import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ResolvedNames } from '@vmdhcp/reconciler';
import type { PoolsFileResult } from './parse-pools-file.js';
import { readUnchanged } from './read-unchanged.js';

const LARGEST_FILE_OCTETS = 64 << 20;

export type LoadedPoolsFile = PoolsFileResult & {
  /** The file does not exist. */
  readonly missing?: true;
};

/** The input of the parsing process. */
export interface ParseTask {
  readonly text: string;
  readonly resolved: ResolvedNames;
}

/**
 * Reads and parses a pools file. A file that cannot be read is a problem like any other; never throws because of its content.
 *
 * Ten thousand machines take a second and hundreds of megabytes to parse. A separate process does it, so that packets are
 * answered meanwhile, and all its memory is returned afterwards.
 */
export async function loadPoolsFile(path: string, resolved: ResolvedNames = new Map()): Promise<LoadedPoolsFile> {
  let text: string;
  try {
    const octets = await readUnchanged(path);
    if (octets.length > LARGEST_FILE_OCTETS) return unreadable(`has ${octets.length} octets; split it up`);
    text = octets.toString('utf8');
  } catch (error) {
    return {
      ...unreadable(`${whyUnreadable(error as NodeJS.ErrnoException)}; give a file with IPPool objects`),
      missing: true,
    };
  }
  return parseInChild({ text, resolved });
}

function parseInChild(task: ParseTask): Promise<PoolsFileResult> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(new URL('./parse-child.js', import.meta.url)), { serialization: 'advanced', execArgv: [] });
    child.once('message', (result) => resolve(result as PoolsFileResult));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new Error(`the pools file could not be parsed: its process ended with ${signal ?? code}`)),
    );
    child.send(task, (error) => error === null || reject(error));
  });
}

const READ_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a directory',
  EACCES: 'may not be read by this user',
};

function whyUnreadable({ code = '', message }: NodeJS.ErrnoException): string {
  return READ_ERRORS[code] ?? `cannot be read (${message})`;
}

function unreadable(message: string): Extract<PoolsFileResult, { ok: false }> {
  const rest = { pools: new Map(), ntpNames: new Set<string>() };
  return { ok: false, warnings: [], problems: [{ line: 1, column: 1, object: 'file', path: '', message }], rest };
}
