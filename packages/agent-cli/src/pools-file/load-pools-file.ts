import { readFile } from 'node:fs/promises';
import type { ResolvedNames } from '@vmdhcp/reconciler';
import { type PoolsFileResult, parsePoolsFile } from './parse-pools-file.js';

const LARGEST_FILE_OCTETS = 64 << 20;

/** Reads and parses a pools file. A file that cannot be read is a problem like any other; never throws. */
export async function loadPoolsFile(
  path: string,
  resolved?: ResolvedNames,
): Promise<PoolsFileResult & { readonly missing?: true }> {
  let text: string;
  try {
    const octets = await readFile(path);
    if (octets.length > LARGEST_FILE_OCTETS) return unreadable(`has ${octets.length} octets; split it up`);
    text = octets.toString('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ...unreadable(`cannot be read (${code ?? error}); name a file that holds IPPool objects`), missing: true };
  }
  return parsePoolsFile(text, resolved);
}

function unreadable(message: string): Extract<PoolsFileResult, { ok: false }> {
  return { ok: false, warnings: [], problems: [{ line: 1, column: 1, object: 'file', path: '', message }] };
}
