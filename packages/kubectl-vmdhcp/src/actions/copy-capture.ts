/** Copies the captured data: decoded lines to the terminal, or blocks of a pcapng file. */

import { createWriteStream, ftruncateSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { NoPcapngError, PcapngBlocks } from '@vmdhcp/explain/observe';
import { describeCount } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode, openPrivateFile, PrintableLines } from '@vmdhcp/service-process';

const LINE_FEED = 0x0a;

/** The result of a capture. */
export interface Tally {
  readonly packets: number;
  /** Undefined if not known. */
  readonly lost: number | undefined;
}

/** Text from the wire never reaches a terminal unescaped, whatever the agent did with it. */
export async function printLines(stdout: Readable, cut: AbortController): Promise<Tally> {
  let packets = 0;
  const lines = new PrintableLines();
  const change = (chunk: Buffer): Buffer => {
    packets += chunk.filter((octet) => octet === LINE_FEED).length;
    return lines.push(chunk);
  };
  await copy(stdout, () => process.stdout, { cut, change });
  return { packets, lost: undefined };
}

interface BlockOutput {
  readonly path: string;
  /** The number of packets requested. */
  readonly packets: number;
  readonly cut: AbortController;
}

export async function writeBlocks(stdout: Readable, { path, packets, cut }: BlockOutput): Promise<Tally> {
  const blocks = new PcapngBlocks(packets);
  let output: Writable | undefined;
  // Opened with the first octets, so that an earlier capture is kept if there are none.
  const open = () => {
    output ??= path === '-' ? process.stdout : openPrivately(path);
    return output;
  };
  try {
    await copy(stdout, open, { cut, change: (chunk) => blocks.push(chunk) });
    if (output !== undefined && output !== process.stdout) await finished(output.end());
    return blocks;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    if (error instanceof NoPcapngError) throw new CommandError(error.message, ExitCode.unavailable, { cause: error });
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} cannot be written: ${why}`, ExitCode.cannotCreate, { cause: error });
  }
}

/** Packets reveal who is on a network: a file that was there becomes private, and is emptied only then. */
function openPrivately(path: string): Writable {
  const { fd, isRegular } = openPrivateFile(path);
  if (isRegular) ftruncateSync(fd);
  return createWriteStream(path, { fd });
}

interface Copying {
  readonly cut: AbortController;
  readonly change: (chunk: Buffer) => Buffer;
}

/** Ends with the input. A reader of the output that goes, as `head` does, ends the capture. */
async function copy(input: Readable, open: () => Writable, { cut, change }: Copying): Promise<void> {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const onError = (error: Error) => failed.reject(error);
  let output: Writable | undefined;
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      const changed = change(chunk);
      if (changed.length === 0) continue;
      output ??= open().once('error', onError);
      const to = output;
      const written = new Promise<void>((resolve) => to.write(changed, () => resolve()));
      await Promise.race([written, failed.promise]);
    }
    await Promise.race([Promise.resolve(), failed.promise]);
  } catch (error) {
    cut.abort();
    if (output !== process.stdout || (error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}

export function describeTally({ packets, lost }: Tally, path: string | undefined): string {
  const where = path === undefined || path === '-' ? '' : `${path}: `;
  const done = path === undefined ? 'shown' : 'written';
  const missing = lost === undefined ? '' : lost === 0 ? ', none lost' : `, ${lost} lost before they were captured`;
  return `${where}${describeCount(packets, 'packet')} ${done}${missing}`;
}
