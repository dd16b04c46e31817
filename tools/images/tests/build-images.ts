import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** What `npm run images -- build --json` prints. */
export interface ImageSummary {
  readonly program: 'controller' | 'agent';
  readonly digest: string;
  readonly platforms: readonly {
    readonly architecture: string;
    readonly digest: string;
    readonly unpackedSizes: Readonly<Record<string, number>>;
  }[];
}

/** Builds all images as a user does. @param root - Where the source is. */
export async function buildImages(
  output: string,
  { root = ROOT, env = {} }: { readonly root?: string; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<readonly ImageSummary[]> {
  const task = join(root, 'scripts/tasks/images.mjs');
  const settings = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 2 ** 24 };
  const { stdout } = await promisify(execFile)(process.execPath, [task, 'build', '--output', output, '--json'], settings);
  return JSON.parse(stdout) as readonly ImageSummary[];
}

export function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}
