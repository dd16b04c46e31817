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

/** Builds one image as a user does. @param root - Where the source is. */
export async function buildImage(
  { program, architecture }: { readonly program: string; readonly architecture: string },
  { output, root, env }: { readonly output: string; readonly root: string; readonly env: Readonly<Record<string, string>> },
): Promise<ImageSummary | undefined> {
  const task = join(root, 'scripts/tasks/images.mjs');
  const settings = { cwd: root, env: { ...process.env, ...env }, maxBuffer: 2 ** 24 };
  const parameters = [task, 'build', '--program', program, '--arch', architecture, '--output', output, '--json'];
  const { stdout } = await promisify(execFile)(
    'sh',
    ['-c', 'umask 077; exec "$@"', 'sh', process.execPath, ...parameters],
    settings,
  );
  return (JSON.parse(stdout) as readonly ImageSummary[])[0];
}

export function readJson<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8')) as Value;
}
