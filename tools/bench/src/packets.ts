/** npm run bench -- packets: the agent beside other DHCP servers, and what it needs. */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Lab } from '@vmdhcp/lab';
import { Command } from 'commander';
import { measureAgents } from './agent-sizes.js';
import { compareServers } from './compare.js';
import { measureControllers } from './controller-sizes.js';
import { measureInterfaces } from './interfaces.js';
import { SERVER_ADDRESS } from './served-network.js';
import { findProgram, type MeasuredServer, SERVERS } from './servers.js';
import { soak } from './soak.js';
import { formatAgentSizes, formatComparison, formatControllerSizes, formatInterfaces, formatSoak } from './tables.js';
import { RELAY_ADDRESS, TestBed } from './test-bed.js';

interface Options {
  readonly rounds: string;
  readonly seconds: string;
  readonly only?: string;
  readonly server?: string;
  readonly json?: string;
}

const options = new Command('npm run bench -- packets')
  .description('Measures the agent beside the DHCP servers that are installed, in one run.')
  .option('--rounds <n>', 'rounds; the median of each row is shown, of two the better one', '2')
  .option('--seconds <n>', 'length of one measurement', '10')
  .option('--only <part>', 'compare, interfaces, soak, agent-size or controller-size')
  .option('--server <name>', 'compare only servers whose name contains this, or one of several: echo,Kea')
  .option('--json <file>', 'write every measurement there')
  .addHelpText(
    'after',
    '\nExamples:\n  npm run bench -- packets\n  npm run bench -- packets --rounds 1 --only compare\n  npm run bench -- packets --only soak\n',
  )
  .parse()
  .opts<Options>();

const results: Record<string, unknown> = {};
const tables: string[] = [`${cpus()[0]?.model.trim()}, ${cpus().length} processors, Linux, Node ${process.versions.node}`];
if (wanted('compare')) {
  const settings = { servers: installedServers(), rounds: Number(options.rounds), seconds: Number(options.seconds), progress };
  const rows = await inLab((bed) => {
    bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
    return compareServers(bed, settings);
  });
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
if (wanted('agent-size')) {
  const measured = await inLab((bed) => measureAgents(bed, progress));
  results['agent-size'] = measured;
  tables.push(formatAgentSizes(measured));
}
if (wanted('controller-size')) {
  const measured = await measureControllers(progress);
  results['controller-size'] = measured;
  tables.push(formatControllerSizes(measured));
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

function installedServers(): MeasuredServer[] {
  return SERVERS.filter(({ name, program }) => {
    if (options.server !== undefined && !options.server.split(',').some((part) => name.includes(part))) return false;
    const installed = findProgram(program) !== undefined;
    if (!installed) progress(`${name}: not installed, left out (${program})`);
    return installed;
  });
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
