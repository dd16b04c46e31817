import { type BigIntStats, promises as fs } from 'node:fs';

const POLL_INTERVAL_MS = 250;

export interface FileWatch {
  readonly path: string;
  /** `fileState` from before the file was read, so that no change is missed between reading and watching. */
  readonly since: string;
  readonly signal: AbortSignal;
}

/**
 * Calls `onChange` whenever the content of the file may have changed, until `signal` aborts. It checks the file's state at short
 * intervals, which also detects what file events miss: mounted volumes, and editors and ConfigMaps that replace the file.
 */
export function watchFile({ path, since, signal }: FileWatch, onChange: () => void): void {
  let known = since;
  let asking = false;
  const look = async (): Promise<void> => {
    if (asking) return;
    asking = true;
    const now = await fileState(path);
    asking = false;
    if (signal.aborted || now === known) return;
    known = now;
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
