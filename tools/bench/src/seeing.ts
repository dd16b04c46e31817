/**
 * `npm run bench -- seeing`: what it costs to note what each client sent and got, and to capture all packets; with and without it in one run, and how much memory it needs, also
 * under a flood of made-up clients.
 */
import { fileURLToPath } from 'node:url';
import { Lab } from '@vmdhcp/lab';
import { Command as CommandLine } from 'commander';
import type { LoadMode } from './load-generator.js';
import { usageOf } from './process-usage.js';
import { SERVER_ADDRESS } from './served-network.js';
import { type Measurement, RELAY_ADDRESS, TestBed } from './test-bed.js';

const options = new CommandLine('npm run bench -- seeing')
  .description('Measures the packet path with and without the record of clients and captures.')
  .option('--rounds <n>', 'rounds; the median of each row is shown', '5')
  .option('--seconds <n>', 'length of one measurement', '3')
  .option('--only <mode>', 'relayed or direct')
  .parse()
  .opts<{ rounds: string; seconds: string; only?: LoadMode }>();

const SERVER = fileURLToPath(new URL('./seeing-server.js', import.meta.url));
const WINDOW = 64;
/** Made-up clients, beyond those that the server knows. */
const FLOOD_CLIENTS = 25_000;
const FLOOD_SECONDS = 2;

interface Case {
  readonly mode: LoadMode;
  readonly clients: number;
}

/** The last one has more clients than are kept, so that each message of a client pushes out another one. */
const ALL_CASES: readonly Case[] = [
  { mode: 'relayed', clients: 10_000 },
  { mode: 'direct', clients: 10_000 },
  { mode: 'direct', clients: 30_000 },
];
const CASES = ALL_CASES.filter(({ mode }) => options.only === undefined || options.only === mode);
const WHAT = ['none', 'clients', 'capture'] as const;
type What = (typeof WHAT)[number];
const NAMES: Readonly<Record<What, string>> = { none: 'without', clients: 'clients', capture: 'clients, and a capture' };

interface Measured {
  readonly measurements: Measurement[];
  floodedMegabytes: number;
}

const lab = new Lab();
const bed = new TestBed(lab);
const measured = new Map<string, Measured>();
try {
  bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
  for (let round = 0; round < Number(options.rounds); round++)
    // In turn, and each time beginning with another one: a machine gets slower and quicker.
    for (const one of CASES)
      for (let turn = 0; turn < WHAT.length; turn++) await measure(one, WHAT[(turn + round) % WHAT.length] ?? 'none');
} finally {
  bed.dispose();
  await lab.dispose();
}
print();
process.exit(0);

async function measure({ mode, clients }: Case, what: What): Promise<void> {
  const command = { command: process.execPath, parameters: [SERVER, 'srv0', what, String(clients)] };
  const server = await bed.startServer(command, ['cli0']);
  try {
    const load = { mode, interfaces: ['cli0'], window: WINDOW };
    const measurement = await bed.measure(server, { ...load, clients, seconds: Number(options.seconds) });
    const key = keyOf({ mode, clients }, what);
    const known = measured.get(key) ?? { measurements: [], floodedMegabytes: 0 };
    measured.set(key, known);
    known.measurements.push(measurement);
    process.stderr.write(`${key}: ${measurement.exchangesPerSecond} exchanges/s\n`);
    if (known.measurements.length > 1) return;
    await bed.load({ ...load, clients: FLOOD_CLIENTS, firstClient: clients, seconds: FLOOD_SECONDS });
    known.floodedMegabytes = usageOf(server.pid).residentMegabytes;
  } finally {
    await server.stop();
  }
}

function keyOf({ mode, clients }: Case, what: What): string {
  return `${mode}, ${clients.toLocaleString('en')} clients, ${NAMES[what]}`;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;
}

function print(): void {
  const lines = [
    '| clients | noted | packets/s | of that without | CPU µs per packet: own + kernel | lost | RSS MB | after a flood |',
  ];
  lines.push('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const one of CASES) for (const what of WHAT) lines.push(`| ${cellsOf(one, what).join(' | ')} |`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** An exchange is four packets, of which the server reads two. */
function cellsOf(one: Case, what: What): string[] {
  const { measurements = [], floodedMegabytes = 0 } = measured.get(keyOf(one, what)) ?? {};
  const without = measured.get(keyOf(one, 'none'))?.measurements ?? [];
  const rate = (all: readonly Measurement[]) => median(all.map(({ exchangesPerSecond }) => 2 * exchangesPerSecond));
  const each = (value: (measurement: Measurement) => number) => median(measurements.map(value));
  return [
    `${one.mode}, ${one.clients.toLocaleString('en')}`,
    NAMES[what],
    rate(measurements).toLocaleString('en'),
    what === 'none' ? '' : `${((100 * rate(measurements)) / rate(without)).toFixed(1)} %`,
    `${each(({ userMicroseconds }) => userMicroseconds / 2).toFixed(2)} + ${each(({ kernelMicroseconds }) => kernelMicroseconds / 2).toFixed(2)}`,
    String(each(({ lost }) => lost)),
    each(({ residentMegabytes }) => residentMegabytes).toFixed(1),
    floodedMegabytes.toFixed(1),
  ];
}
