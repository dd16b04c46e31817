/** `npm run bench -- storm`: ten thousand machines are switched on at once, and ask for the first time. Everything is on as users run it. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lab } from '@vmdhcp/lab';
import { Command as CommandLine } from 'commander';
import { usageOf } from './process-usage.js';
import { CLIENTS, SERVER_ADDRESS } from './served-network.js';
import { findProgram, type MeasuredServer, SERVERS } from './servers.js';
import { RELAY_ADDRESS, TestBed } from './test-bed.js';

const options = new CommandLine('npm run bench -- storm')
  .description('Ten thousand clients ask for the first time, all within a fifth of a second, and repeat as RFC 2131 says.')
  .option('--rounds <n>', 'rounds of the comparison', '3')
  .parse()
  .opts<{ rounds: string }>();
const SPREAD_MS = 200;
const MOST_SECONDS = 60;

interface StormServer extends Pick<MeasuredServer, 'name' | 'program' | 'prepare'> {
  readonly probe: string;
}

/** Probes addresses before it gives them, as it does where nobody switched that off. */
function withProbe({ program, prepare }: MeasuredServer): StormServer {
  return {
    ...{ name: 'vmdhcp-agent', program, probe: 'three ARP requests' },
    prepare: (folder) => {
      const command = prepare(folder);
      const path = join(folder, 'pools.yaml');
      writeFileSync(path, readFileSync(path, 'utf8').replace('  conflictProbe: Disabled\n', ''));
      return command;
    },
  };
}

function withPing({ program, prepare }: MeasuredServer): StormServer {
  return {
    ...{ name: 'dnsmasq', program, probe: 'one ping' },
    prepare: (folder) => {
      const { command, parameters } = prepare(folder);
      return { command, parameters: parameters.filter((one) => one !== '--no-ping') };
    },
  };
}

const measured = SERVERS.filter(({ name }) => name !== 'echo loop');
const [agent] = measured;
const dnsmasq = measured.find(({ name }) => name === 'dnsmasq');
const rows: StormServer[] = [
  ...(agent === undefined ? [] : [withProbe(agent)]),
  ...measured.map((server) => ({ ...server, probe: 'nothing' })),
  ...(dnsmasq === undefined ? [] : [withPing(dnsmasq)]),
];

const lab = new Lab();
const bed = new TestBed(lab);
try {
  bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
  process.stdout.write(
    '| server | probes a new address by | 50 % ms | 99 % ms | all ms | without an address | packets repeated | processor |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (let round = 0; round < Number(options.rounds); round++)
    for (const row of rows.filter(({ program }) => findProgram(program) !== undefined)) await measure(row);
} finally {
  bed.dispose();
  await lab.dispose();
}
process.exit(0);

async function measure({ name, probe, prepare }: StormServer): Promise<void> {
  const folder = bed.folder();
  const server = await bed.startServer(prepare(folder), ['cli0']);
  try {
    const before = usageOf(server.pid);
    const startedAt = performance.now();
    const { acknowledgedAfterMs: after, packetsRepeated } = await bed.storm({
      ...{ interfaceName: 'cli0', clients: CLIENTS, spreadMs: SPREAD_MS, mostSeconds: MOST_SECONDS },
    });
    const lastsMs = performance.now() - startedAt;
    const now = usageOf(server.pid);
    const busyMs = 1_000 * (now.userSeconds + now.kernelSeconds - before.userSeconds - before.kernelSeconds);
    const at = (share: number) => {
      const value = after[Math.ceil(share * CLIENTS) - 1];
      return value === undefined ? '-' : Math.round(value).toString();
    };
    const columns = [at(0.5), at(0.99), at(1), CLIENTS - after.length, packetsRepeated];
    process.stdout.write(
      `| ${name} | ${probe} | ${columns.join(' | ')} | ${(busyMs / 1_000).toFixed(2)} s, ${Math.round((100 * busyMs) / lastsMs)} % |\n`,
    );
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
