/**
 * `npm run bench -- leases`: leases of unknown clients. New leases in a second beside other servers, in one run; how long an agent needs to start with many; and
 * which leases are lost when it is killed while many clients come.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { formatBindingRecord, formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { AGENT_BIN, Lab, type LabProcess } from '@vmdhcp/lab';
import { Command as CommandLine } from 'commander';
import { LEASE_SERVERS, type LeaseServer, prepareAgent } from './lease-servers.js';
import { usageOf } from './process-usage.js';
import { FIRST_ADDRESS, macOf, SERVER_ADDRESS } from './served-network.js';
import { findProgram } from './servers.js';
import { RELAY_ADDRESS, TestBed } from './test-bed.js';

const options = new CommandLine('npm run bench -- leases')
  .description('Measures leases of unknown clients, recorded on the disk.')
  .option('--rounds <n>', 'rounds of the comparison', '2')
  .option('--seconds <n>', 'length of one measurement', '6')
  .option('--arriving <n>', 'clients that come within a minute while the agent is killed', '5000')
  .option('--disk <folder>', 'where the servers record leases', '/var/tmp')
  .option('--only <part>', 'compare, start or kill')
  .parse()
  .opts<{ rounds: string; seconds: string; arriving: string; disk: string; only?: string }>();

/** More than any server leases in a measurement, and as many as the range has. */
const NEW_CLIENTS = 65_000;
const WINDOW = 256;
const CLIENTS_OF_START = 65_000;
const LINES_OF_START = 140_000;

const lab = new Lab();
const bed = new TestBed(lab);
const folders: string[] = [];
try {
  bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
  if (wanted('compare')) await compare();
  if (wanted('start')) await measureStart();
  if (wanted('kill')) await killWhileLeasing();
} finally {
  bed.dispose();
  await lab.dispose();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

function wanted(part: string): boolean {
  return options.only === undefined || options.only === part;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function diskFolder(): string {
  const folder = mkdtempSync(join(options.disk, 'vmdhcp-leases-'));
  folders.push(folder);
  return folder;
}

async function compare(): Promise<void> {
  print(
    '| server | durability before the ACK | new leases a second | lost | REQUEST to ACK ms: median, 99 % | processor | RSS MB |',
  );
  print('| --- | --- | --- | --- | --- | --- | --- |');
  for (let round = 1; round <= Number(options.rounds); round++)
    for (const server of LEASE_SERVERS.filter(({ program }) => findProgram(program) !== undefined)) await compareOne(server);
}

async function compareOne({ name, durability, prepare }: LeaseServer): Promise<void> {
  const server = await bed.startServer(prepare(diskFolder()), ['cli0']);
  try {
    const load = { mode: 'relayed', interfaces: ['cli0'], window: WINDOW, clients: NEW_CLIENTS, firstClient: 10 } as const;
    const { exchangesPerSecond, lost, requestToAck, busyShare, residentMegabytes } = await bed.measure(server, {
      ...load,
      seconds: Number(options.seconds),
    });
    const latency = `${requestToAck.p50.toFixed(1)}, ${requestToAck.p99.toFixed(1)}`;
    const processor = `${Math.round(100 * busyShare)} %`;
    print(
      `| ${name} | ${durability} | ${exchangesPerSecond} | ${lost} | ${latency} | ${processor} | ${Math.round(residentMegabytes)} |`,
    );
  } finally {
    await server.stop();
  }
}

/** From the start of the process to the first reply. */
async function measureStart(): Promise<void> {
  const folder = diskFolder();
  const { command, parameters } = prepareAgent(folder);
  mkdirSync(join(folder, 'state'));
  writeFileSync(join(folder, 'state', 'bindings'), bindingsOf(CLIENTS_OF_START, LINES_OF_START));
  const { size } = statSync(join(folder, 'state', 'bindings'));
  print(`start with ${CLIENTS_OF_START} bindings in ${LINES_OF_START} lines (${Math.round(size / 1e6)} MB):`);
  for (let round = 0; round < 3; round++) {
    const startedAtMs = Date.now();
    const agent = lab.start(command, [...parameters]);
    const repliedAtMs = await bed.firstReply('cli0', macOf(7), agent);
    print(
      `  first reply after ${Math.round(repliedAtMs - startedAtMs)} ms, RSS ${Math.round(usageOf(agent.pid).residentMegabytes)} MB`,
    );
    await agent.stop();
  }
}

function bindingsOf(clients: number, lines: number): string {
  const nowMs = Date.now();
  const text = ['vmdhcp-agent-bindings 1\n'];
  for (let line = 0; line < lines; line++) {
    const client = (line * 7_919) % clients;
    const macAddress = macOf(client);
    const record = formatBindingRecord({
      ...{
        kind: 'binding',
        poolName: 'default/net',
        address: FIRST_ADDRESS + client,
        macAddress,
      },
      ...{
        hostname: `node-${client}`,
        boundAtMs: nowMs,
        grantedAtMs: nowMs + line,
        endsAtMs: nowMs + 3_600_000,
        isReleased: false,
      },
    });
    text.push(`${crc32(record).toString(16).padStart(8, '0')} ${record}\n`);
  }
  return text.join('');
}

/** The clients of a minute, while the agent is killed again and again. */
async function killWhileLeasing(): Promise<void> {
  const folder = diskFolder();
  const { command, parameters } = prepareAgent(folder);
  const arriving = Number(options.arriving);
  let agent: LabProcess = await bed.startServer({ command, parameters }, ['cli0']);
  const ending = { isOver: false };
  let kills = 0;
  const killing = (async () => {
    while (!ending.isOver) {
      await sleep(4_000 + Math.random() * 6_000);
      agent.kill('SIGKILL');
      await agent.ended();
      kills++;
      agent = lab.start(command, [...parameters]);
    }
  })();
  const load = { mode: 'relayed', interfaces: ['cli0'], window: WINDOW, clients: 65_000, firstClient: 10 } as const;
  const { acknowledged = [], lost } = await bed.load({ ...load, seconds: 60, perSecond: arriving / 60, listsAcknowledged: true });
  ending.isOver = true;
  await killing;
  await agent.stop();
  const reading = lab.start(process.execPath, [AGENT_BIN, 'leases', '--state', join(folder, 'state'), '--json']);
  await reading.ended();
  const leases = JSON.parse(reading.lines.join('\n')) as { readonly macAddress: string; readonly address: string }[];
  const addressOf = new Map(leases.map(({ macAddress, address }) => [macAddress, address]));
  const missing = acknowledged.filter(([client, address]) => addressOf.get(macOf(client)) !== formatIpv4Address(address));
  const twice = acknowledged.length - new Set(acknowledged.map(([, address]) => address)).size;
  print(
    `${acknowledged.length} leases in a minute, ${kills} times SIGKILL: ${lost} clients without a reply (they would ask again), ` +
      `${missing.length} leases lost, ${twice} addresses given twice`,
  );
}
