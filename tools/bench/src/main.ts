/** `npm run bench`. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Lab, type LabProcess } from '@vmdhcp/lab';
import { Command } from 'commander';
import { measureInterfaces } from './interfaces.js';
import type { LoadMode } from './load-generator.js';
import { CLIENTS, findProgram, type MeasuredServer, SERVER_ADDRESS, SERVERS } from './servers.js';
import { soak } from './soak.js';
import { formatComparison, formatInterfaces, formatSoak, type MeasuredMode, type ServerRow } from './tables.js';
import { type Measurement, RELAY_ADDRESS, TestBed } from './test-bed.js';

const MODES: readonly LoadMode[] = ['relayed', 'direct', 'broadcast'];
const WINDOW = 64;
/** After the start, when all clients ask at once. */
const FIRST_SECONDS = 3;
const FIRST: MeasuredMode = `relayed, first ${FIRST_SECONDS} s`;

interface Options {
  readonly rounds: string;
  readonly seconds: string;
  readonly only?: string;
  readonly server?: string;
  readonly json?: string;
}

const options = new Command('npm run bench --')
  .description('Measures the agent beside the DHCP servers that are installed, in one run.')
  .option('--rounds <n>', 'rounds; the median of each row is shown', '3')
  .option('--seconds <n>', 'length of one measurement', '3')
  .option('--only <part>', 'compare, interfaces or soak')
  .option('--server <name>', 'compare only servers whose name contains this')
  .option('--json <file>', 'write every measurement there')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run bench\n  npm run bench -- --rounds 1 --only compare\n  npm run bench -- --only soak\n',
  )
  .parse()
  .opts<Options>();

const results: Record<string, unknown> = {};
const tables: string[] = [`${cpus()[0]?.model.trim()}, ${cpus().length} processors, Linux, Node ${process.versions.node}`];
if (wanted('compare')) {
  const rows = await compare();
  results['compare'] = rows;
  tables.push(formatComparison(rows));
}
if (wanted('interfaces')) {
  const measured = await inLab(measureInterfaces);
  results['interfaces'] = measured;
  tables.push(formatInterfaces(measured));
}
if (wanted('soak')) {
  const measured = await inLab((bed) => soak(bed, progress));
  results['soak'] = measured;
  tables.push(formatSoak(measured));
}
process.stdout.write(`\n${tables.join('\n\n')}\n`);
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
process.exit(0);

function wanted(part: string): boolean {
  return options.only === undefined || options.only === part;
}

async function inLab<Result>(work: (bed: TestBed) => Promise<Result>): Promise<Result> {
  const lab = new Lab();
  const bed = new TestBed(lab);
  try {
    return await work(bed);
  } finally {
    bed.dispose();
    await lab.dispose();
  }
}

/** Every server in every mode, round by round, so that a slow minute of the machine falls on all of them. */
async function compare(): Promise<ServerRow[]> {
  const lab = new Lab();
  const bed = new TestBed(lab);
  bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
  const servers = SERVERS.filter(({ name, program }) => {
    if (options.server !== undefined && !name.includes(options.server)) return false;
    const installed = findProgram(program) !== undefined;
    if (!installed) progress(`${name}: not installed, left out (${program})`);
    return installed;
  });
  const measured = new Map<string, Measurement[]>();
  for (let round = 1; round <= Number(options.rounds); round++) {
    for (const server of servers)
      await measureServer(bed, server, (mode, measurement) => {
        const key = `${server.name} ${mode}`;
        measured.set(key, [...(measured.get(key) ?? []), measurement]);
        progress(`round ${round}: ${key}: ${measurement.exchangesPerSecond} exchanges/s, ${measurement.lost} lost`);
      });
  }
  bed.dispose();
  await lab.dispose();
  return servers.flatMap(({ name }) => {
    const modes = [FIRST, ...MODES].map((mode) => ({ mode, measurements: measured.get(`${name} ${mode}`) ?? [] }));
    return modes.every(({ measurements }) => measurements.length > 0) ? [{ name, modes }] : [];
  });
}

async function measureServer(
  bed: TestBed,
  server: MeasuredServer,
  onMeasured: (mode: MeasuredMode, measurement: Measurement) => void,
): Promise<void> {
  let started: LabProcess | undefined;
  try {
    started = await bed.startServer(server.prepare(bed.folder()), ['cli0']);
    const first = { mode: 'relayed', interfaces: ['cli0'], window: WINDOW, seconds: FIRST_SECONDS, clients: CLIENTS } as const;
    onMeasured(FIRST, await bed.measure(started, first));
    for (const mode of MODES) {
      onMeasured(
        mode,
        await bed.measure(started, {
          mode,
          interfaces: ['cli0'],
          window: WINDOW,
          seconds: Number(options.seconds),
          clients: CLIENTS,
        }),
      );
    }
  } catch (error) {
    progress(`${server.name}: could not be measured: ${error instanceof Error ? error.message : error}`);
  } finally {
    await started?.stop();
  }
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
