/** npm run bench -- control: virtual machines in one pool and in many, what one more costs then, and what reaches the wire. Rows of one table grow by ten. */
import { Command } from 'commander';
import { measureAgentPool, type Spread } from './large-agent.js';
import { type LargeRow, measureLarge } from './large-controller.js';
import { markdown } from './tables.js';
import { measureWire } from './wire-latency.js';

interface Options {
  readonly spread: string;
  readonly pool: string;
  readonly perPool: string;
  readonly rounds: string;
  readonly only?: string;
}

const options = new Command('npm run bench -- control')
  .description(
    'Measures how long new virtual machines wait for their addresses, what one more costs in large pools and clusters, and what reaches the wire.',
  )
  .option('--spread <counts>', 'virtual machines over many pools, one row each', '1000,10000')
  .option('--per-pool <n>', 'of them in each pool', '100')
  .option('--pool <counts>', 'virtual machines in one pool, one row each', '1,1000,10000')
  .option('--rounds <n>', 'single virtual machines that are created and deleted then', '5')
  .option('--only <part>', 'pool, spread, agent or wire')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run bench -- control\n  npm run bench -- control --only pool --pool 40000\n  npm run bench -- control --only wire\n',
  )
  .parse()
  .opts<Options>();

const parts: Readonly<Record<string, () => Promise<string>>> = {
  pool: () => controllerTables('one pool', countsOf(options.pool), Number.POSITIVE_INFINITY),
  spread: () => controllerTables('many pools', countsOf(options.spread), Number(options.perPool)),
  agent: agentTable,
  wire: measureWire,
};
for (const [name, measure] of Object.entries(parts)) {
  if (options.only === undefined || options.only === name) process.stdout.write(`\n${await measure()}\n`);
}
process.exit(0);

function countsOf(text: string): number[] {
  return text.split(',').map(Number);
}

async function controllerTables(title: string, counts: readonly number[], perPool: number): Promise<string> {
  const rows: LargeRow[] = [];
  for (const machines of counts) {
    const label = `${title}, ${count(machines)} virtual machines`;
    rows.push(
      await measureLarge({
        machines,
        perPool,
        rounds: Number(options.rounds),
        onProgress: (text) => progress(`${label}: ${text}`),
      }),
    );
    progress('');
  }
  return `${fillTable(title, rows)}\n\n${thenTable(title, rows)}`;
}

function fillTable(title: string, rows: readonly LargeRow[]): string {
  return markdown(
    [
      title,
      'pools',
      'created after s',
      'all have addresses after s',
      'API writes each',
      'patches of pools',
      'CPU s: controller',
      'simulator',
      'controller RSS MB',
      'octets each',
    ],
    rows.map(({ machines, pools, createdAfterMs, filled, poolPatches, megabytes, emptyMegabytes }) => [
      count(machines),
      count(pools),
      seconds(createdAfterMs),
      seconds(filled.elapsedMs),
      ((filled.writes - machines) / machines).toFixed(2),
      count(poolPatches),
      seconds(filled.controllerMs),
      seconds(filled.simulatorMs),
      megabytes.toFixed(0),
      count(Math.round((1e6 * (megabytes - emptyMegabytes)) / machines)),
    ]),
  );
}

function thenTable(title: string, rows: readonly LargeRow[]): string {
  return markdown(
    [
      `${title}, then`,
      'one more has its address after ms',
      'CPU ms: controller',
      'simulator',
      'one deletion is done after ms',
      'controller CPU ms',
      'all listed again: controller CPU s',
      'writes',
      'a new controller has assigned one more after s',
      'its CPU s',
      'page of metrics ms',
      'MB',
      'RSS MB then',
    ],
    rows.map(({ machines, oneMore, oneLess, relisted, restarted, scraped, scrapedMegabytes }) => [
      count(machines),
      oneMore.elapsedMs.toFixed(0),
      oneMore.controllerMs.toFixed(0),
      oneMore.simulatorMs.toFixed(0),
      oneLess.elapsedMs.toFixed(0),
      oneLess.controllerMs.toFixed(0),
      seconds(relisted.controllerMs),
      String(relisted.writes),
      seconds(restarted.elapsedMs),
      seconds(restarted.controllerMs),
      scraped.ms.toFixed(0),
      scraped.megabytes.toFixed(1),
      scrapedMegabytes.toFixed(0),
    ]),
  );
}

async function agentTable(): Promise<string> {
  const lines: string[][] = [];
  for (const addresses of countsOf(options.pool)) {
    const { megabytes, parsed, served, answered } = await measureAgentPool(addresses);
    lines.push([count(addresses), megabytes.toFixed(2), shown(parsed), shown(served), shown(answered)]);
  }
  return markdown(
    [
      'an agent, one client more: addresses of the pool',
      'event MB',
      'event parsed ms: median, most',
      'served',
      'new client answered',
    ],
    lines,
  );
}

function shown({ median, most }: Spread): string {
  return `${median.toFixed(1)}, ${most.toFixed(1)}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

/** One line, overwritten by the next; nothing if the output is not a terminal. */
function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
