import { type BigIntStats, promises as fs } from 'node:fs';

const POLL_INTERVAL_MS = 250;
/** A file that is still being written lacks machines, whose addresses must not be freed: so it has to stay the same for a second first. */
const LOOKS_UNCHANGED = 4;
/** After a minute of changes the file is read all the same, so that its reader says what is wrong. */
const MOST_LOOKS_CHANGED = 240;

export interface FileWatch {
  readonly path: string;
  /** `fileState` from before the file was read, so that no change is missed between reading and watching. */
  readonly since: string;
  readonly signal: AbortSignal;
  /** Default: `fileState`. */
  readonly stateOf?: (path: string) => Promise<string>;
}

/**
 * Calls `onChange` whenever the content of the file may have changed and nobody has written it for a second, until `signal` aborts. It checks the
 * file's state at short intervals, which also detects what file events miss: mounted volumes, and editors and ConfigMaps that replace the file.
 */
export function watchFile({ path, since, signal, stateOf = fileState }: FileWatch, onChange: () => void): void {
  let known = since;
  let seen = since;
  let unchanged = 0;
  let waited = 0;
  let asking = false;
  const look = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const now = await stateOf(path);
    asking = false;
    unchanged = now === seen ? unchanged + 1 : 0;
    seen = now;
    waited = now === known ? 0 : waited + 1;
    if (signal.aborted || now === known || (unchanged < LOOKS_UNCHANGED && waited < MOST_LOOKS_CHANGED)) return;
    known = now;
    waited = 0;
    onChange();
  };
  const timer = setInterval(() => void look(), POLL_INTERVAL_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

/** Changes whenever the content of the file may have changed. */
export async function fileState(path: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino }: BigIntStats = await fs.stat(path, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch (error) {
    return `gone ${error instanceof Error && 'code' in error ? error.code : ''}`;
  }
}
