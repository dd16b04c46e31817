import { type BigIntStats, promises as fs } from 'node:fs';

const POLL_INTERVAL_MS = 250;

/**
 * Calls `onChange` whenever the file may hold something new, until `signal` aborts. It asks for the file's state in short
 * intervals: that also sees what file events miss: mounted volumes, and editors and ConfigMaps that replace the file.
 */
export function watchFile(path: string, onChange: () => void, signal: AbortSignal): void {
  let known: string | undefined;
  let asking = false;
  const timer = setInterval(async () => {
    if (asking) return;
    asking = true;
    const now = await stateOf(path);
    asking = false;
    if (signal.aborted) return;
    if (known !== undefined && now !== known) onChange();
    known = now;
  }, POLL_INTERVAL_MS);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

async function stateOf(path: string): Promise<string> {
  try {
    const { mtimeNs, ctimeNs, size, ino }: BigIntStats = await fs.stat(path, { bigint: true });
    return `${mtimeNs} ${ctimeNs} ${size} ${ino}`;
  } catch (error) {
    return `gone ${error instanceof Error && 'code' in error ? error.code : ''}`;
  }
}
