/** npm run bench -- page: the page of a large pool, how soon its data is there, and what changes cost with pages that are open. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { PageServerAnswer, PageServerRequest } from './page-measurement.js';
import { markdown } from './tables.js';

const options = new Command('npm run bench -- page')
  .description('Measures the data of the page: one pool of a /16, whose leases change.')
  .option('--addresses <n>', 'clients of the pool', '40000')
  .option('--changes <n>', 'lease changes a second', '100')
  .option('--pages <counts>', 'open pages, one row each', '0,1,20')
  .option('--seconds <n>', 'of each row', '15')
  .addHelpText('after', '\nExample:\n  npm run bench -- page --addresses 4000 --seconds 5\n')
  .parse()
  .opts<{ readonly addresses: string; readonly changes: string; readonly pages: string; readonly seconds: string }>();

const SERVER = fileURLToPath(new URL('page-server.js', import.meta.url));
const POOL = 'default/net-1';
const ROUNDS = 9;

process.stdout.write(`\n${await measureFirst()}\n`);
const rows: string[][] = [];
let baseline = 0;
for (const pages of options.pages.split(',').map(Number)) {
  const row = await measureChanges(pages);
  if (pages === 0) baseline = row.busyShare;
  rows.push(toCells(pages, row));
}
const header = ['open pages', 'CPU of one core', 'more than without', 'events a second and page', 'octets each', 'RSS MB'];
process.stdout.write(`\n${markdown(header, rows)}\n`);
process.exit(0);

interface Server {
  readonly child: ChildProcess;
  readonly port: number;
  readonly ask: (request: PageServerRequest) => Promise<PageServerAnswer & { readonly kind: 'cpu' }>;
}

async function start(): Promise<Server> {
  const child = fork(SERVER, [options.addresses, options.changes]);
  const answer = async () => ((await once(child, 'message')) as [PageServerAnswer])[0];
  const listening = await answer();
  if (listening.kind !== 'listening') throw new Error('the server of the page did not start');
  const ask = async (request: PageServerRequest) => {
    child.send(request);
    return (await answer()) as PageServerAnswer & { readonly kind: 'cpu' };
  };
  return { child, port: listening.port, ask };
}

/** In a process that has read nothing yet, then again and again. */
async function measureFirst(): Promise<string> {
  const paths = [
    '/api/overview',
    `/api/pools/${POOL}`,
    `/api/leases?pool=${POOL}&limit=100`,
    '/api/leases?search=02:00:00:00:9c',
  ];
  const { child, port } = await start();
  const lines: string[][] = [];
  for (const path of paths) {
    const first = await timed(port, path);
    const more = [];
    for (let round = 0; round < ROUNDS; round++) more.push((await timed(port, path)).ms);
    const median = more.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
    lines.push([`\`${path}\``, String(first.octets), first.ms.toFixed(1), median.toFixed(1)]);
  }
  child.kill();
  return markdown(
    [`${Number(options.addresses).toLocaleString('en')} addresses`, 'octets', 'the first time, ms', 'then, ms'],
    lines,
  );
}

async function timed(port: number, path: string): Promise<{ readonly ms: number; readonly octets: number }> {
  const startedAtMs = performance.now();
  const response = await open(port, path);
  let octets = 0;
  for await (const part of response) octets += (part as Buffer).length;
  if (response.statusCode !== 200) throw new Error(`${path}: status ${response.statusCode}`);
  return { ms: performance.now() - startedAtMs, octets };
}

async function open(port: number, path: string): Promise<http.IncomingMessage> {
  const [response] = (await once(http.get({ host: '127.0.0.1', port, path, agent: false }), 'response')) as [
    http.IncomingMessage,
  ];
  return response;
}

interface ChangesRow {
  readonly busyShare: number;
  readonly eventsPerSecond: number;
  readonly octetsEach: number;
  readonly megabytes: number;
}

async function measureChanges(pages: number): Promise<ChangesRow> {
  const { child, port, ask } = await start();
  const seconds = Number(options.seconds);
  const seen = { events: 0, octets: 0 };
  await ask('change');
  for (let index = 0; index < pages; index++) await follow(port, seen);
  // The engine compiles what runs often; a page that has just been opened is not what is measured.
  await setTimeout(5_000);
  const before = await ask('cpu');
  const [events, octets, startedAtMs] = [seen.events, seen.octets, performance.now()];
  await setTimeout(1_000 * seconds);
  const after = await ask('cpu');
  const elapsedMs = performance.now() - startedAtMs;
  child.kill();
  return {
    busyShare: (after.cpuMs - before.cpuMs) / elapsedMs,
    eventsPerSecond: pages === 0 ? 0 : (1_000 * (seen.events - events)) / elapsedMs / pages,
    octetsEach: seen.events === events ? 0 : (seen.octets - octets) / (seen.events - events),
    megabytes: after.megabytes,
  };
}

/** An open page: the pool, and what changes in it. */
async function follow(port: number, seen: { events: number; octets: number }): Promise<void> {
  const response = await open(port, `/api/pools/${POOL}`);
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  const { version } = JSON.parse(text) as { readonly version: string };
  const stream = await open(port, `/api/events?pool=${POOL}&version=${version}`);
  stream.on('data', (part: Buffer) => {
    seen.octets += part.length;
    seen.events += part.toString('latin1').split('event: pool\n').length - 1;
  });
  stream.on('error', () => undefined);
}

function toCells(pages: number, { busyShare, eventsPerSecond, octetsEach, megabytes }: ChangesRow): string[] {
  return [
    String(pages),
    percent(busyShare),
    pages === 0 ? '' : percent(busyShare - baseline),
    eventsPerSecond.toFixed(1),
    octetsEach.toFixed(0),
    megabytes.toFixed(0),
  ];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
