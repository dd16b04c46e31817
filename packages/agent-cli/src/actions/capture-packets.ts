import { once } from 'node:events';
import { closeSync, ftruncateSync, writeSync } from 'node:fs';
import { askControl, packetLine } from '@vmdhcp/agent-process';
import { type FiledBlock, PcapngReader } from '@vmdhcp/dhcp-agent/packet-path';
import { CommandError, cannotWrite, ExitCode, openPrivateFile, stopSignal } from '@vmdhcp/service-process';
import { controlPath } from './list-clients.js';

export interface CapturePacketsOptions {
  readonly state?: string;
  readonly pool: string;
  /** In canonical form. */
  readonly mac?: string;
  readonly seconds: number;
  readonly packets: number;
  /** A file; `-` for standard output. Undefined: packets are printed. */
  readonly write?: string;
  /** True if packets are printed even while they are written to a file. */
  readonly decode?: boolean;
  readonly untilInputEnds?: boolean;
}

/** Captures packets of a pool of a running agent, to a file or as lines, until a bound or a signal ends it. @throws CommandError */
export async function capturePackets(options: CapturePacketsOptions): Promise<void> {
  const { write, decode = write === undefined, pool, mac, seconds, packets } = options;
  if (write === '-' && decode)
    throw new CommandError('--decode prints lines, and --write - octets: give one of them, or --write FILE', ExitCode.usage);
  const signal = endSignal(options);
  const octets = askControl(controlPath(options.state), { ask: 'capture', pool, mac, seconds, packets }, signal);
  const sink = write === undefined ? undefined : openSink(write);
  const counted = { captured: 0, lost: 0, interfaces: [] as string[] };
  const reader = new PcapngReader();
  try {
    for await (const part of octets) {
      await sink?.write(part);
      for (const block of reader.read(part)) await takeBlock(block, counted, decode);
    }
  } finally {
    sink?.close();
    closeInput(options);
  }
  const lost = counted.lost === 0 ? '' : `; ${counted.lost} more were lost, because they came faster than they were read`;
  process.stderr.write(`${counted.captured} packets captured${lost}\n`);
}

interface Counted {
  captured: number;
  lost: number;
  readonly interfaces: string[];
}

async function takeBlock(block: FiledBlock, counted: Counted, prints: boolean): Promise<void> {
  if (block.kind === 'interface') counted.interfaces.push(block.name);
  if (block.kind === 'statistics') counted.lost += block.dropped;
  if (block.kind !== 'packet') return;
  counted.captured++;
  if (prints) await toStdout(`${packetLine(block, counted.interfaces[block.interfaceId] ?? '?')}\n`);
}

/** SIGINT, SIGTERM, the reader of the output is gone, or there is no more input. */
function endSignal({ untilInputEnds }: CapturePacketsOptions): AbortSignal {
  const gone = new AbortController();
  process.stdout.on('error', () => gone.abort());
  if (untilInputEnds)
    process.stdin
      .on('end', () => gone.abort())
      .on('error', () => gone.abort())
      .resume();
  return AbortSignal.any([stopSignal(), gone.signal]);
}

/** An input that goes on would keep the process. */
function closeInput({ untilInputEnds }: CapturePacketsOptions): void {
  if (untilInputEnds) process.stdin.destroy();
}

/** Waits while the reader is slow: the agent counts packets lost meanwhile. */
async function toStdout(octets: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(octets) && !process.stdout.destroyed)
    await Promise.race([once(process.stdout, 'drain'), once(process.stdout, 'close')]);
}

interface Sink {
  readonly write: (octets: Uint8Array) => Promise<void> | void;
  readonly close: () => void;
}

/** The file is created at once, so that errors are known before packets are captured. An earlier capture in it is kept until there are new octets. */
function openSink(path: string): Sink {
  if (path === '-') return { write: toStdout, close: () => undefined };
  const { fd, isRegular } = openPrivateFile(path);
  let hasEarlierCapture = isRegular;
  const write = (octets: Uint8Array) => {
    if (hasEarlierCapture) ftruncateSync(fd);
    hasEarlierCapture = false;
    writeWhole(path, fd, octets);
  };
  return { write, close: () => closeSync(fd) };
}

/** On a disk that fills up, part of it may be written before the error. @throws CommandError */
function writeWhole(path: string, file: number, octets: Uint8Array): void {
  try {
    for (let at = 0; at < octets.length; ) at += writeSync(file, octets, at);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}
