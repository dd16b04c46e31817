import { spawnSync } from 'node:child_process';

/** Prints, at the end, the packages whose modules were loaded, and the modules of Node. */
const LIST_LOADED = `
import { registerHooks } from 'node:module';
const packages = new Set();
registerHooks({ load(url, context, next) {
  const loaded = next(url, context);
  const name = /.*(?:node_modules|packages)\\/((?:@[^/]+\\/)?[^/]+)\\//.exec(url)?.[1];
  const joined = url.includes('/program/') ? /^\\/\\/ Parts of (.*)\\.$/m.exec(loaded.source)?.[1].split(', ') : undefined;
  for (const one of [name, ...(joined ?? [])]) packages.add(one);
  return loaded;
} });
process.on('exit', () => process.stderr.write('LOADED' + JSON.stringify([...packages, ...process.moduleLoadList])));`;
const TIMEOUT_MS = 20_000;

/** How a program ended, and which modules it loaded. */
export interface ProgramRun {
  /** The exit code. */
  readonly status: number | null;
  /** Names of packages (without scope if they are in the workspace), and of modules of Node as in `process.moduleLoadList`. */
  readonly loaded: ReadonlySet<string>;
}

/**
 * Runs a Node program until it ends and returns what it loaded: what a program imports stays in memory for as long as it runs.
 *
 * @param node - the Node that runs it. @param words - its arguments. @param env - variables besides PATH. Default: none.
 */
export function loadedBy(
  { node, program }: { readonly node: string; readonly program: string },
  words: readonly string[],
  env: NodeJS.ProcessEnv = {},
): ProgramRun {
  const hook = `data:text/javascript,${encodeURIComponent(LIST_LOADED)}`;
  const settings = { encoding: 'utf8', timeout: TIMEOUT_MS, env: { PATH: process.env['PATH'], ...env } } as const;
  const { status, stderr } = spawnSync(node, ['--import', hook, program, ...words], settings);
  return { status, loaded: new Set(JSON.parse(stderr.split('LOADED')[1] ?? '[]') as string[]) };
}
