// Runs the test files with real interfaces, each in namespaces of its own: as many at a time as the processors have time for.
import { spawn } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parametersInNamespaces } from './in-namespaces.mjs';

const FILES = 'tools/lab/tests/*.lab.test.ts';
/** So many run although other parts of the tests compute. */
const FEWEST_LANES = 2;
/** More would need too much memory. */
const MOST_LANES = 8;
/** A file takes a quarter to a half of a processor: most of the time it waits for timers of the protocol. */
const IDLE_FOR_ONE_MORE = 0.5;
const INTERVAL_MS = 3_000;
const LONG = ['bare-host', 'cluster', 'demo', 'failover', 'networks-apart', 'silent-networks', 'topologies'];

/**
 * @param {string[]} way parameters of `unshare`, as `findNamespaces` returns them
 * @param {{ filters: string[], isNight: boolean }} choice parts of names of files (with an option of vitest among them, all files run in one process),
 *   and whether files with the tag `nightly` run
 * @param {(files: string[]) => { parameters: string[], ended: (status: number | null) => void }} prepare for one process
 */
export async function runLabTests(way, { filters, isNight }, prepare) {
  const waiting = filters.some((filter) => filter.startsWith('-')) ? [filters] : filesOf(filters, isNight).map((file) => [file]);
  const running = new Set();
  while (waiting.length > 0) {
    const idle = idleProcessors();
    if (running.size >= FEWEST_LANES) await Promise.race([delay(INTERVAL_MS, undefined, { ref: false }), ...running]);
    if (running.size >= FEWEST_LANES && (running.size >= MOST_LANES || idle() < IDLE_FOR_ONE_MORE)) continue;
    const lane = runFiles(way, prepare(waiting.shift())).finally(() => running.delete(lane));
    running.add(lane);
  }
  await Promise.all(running);
}

async function runFiles(way, { parameters, ended }) {
  ended(await runInLane(way, parameters));
}

/** @returns a function: how many processors were idle on average since now. */
function idleProcessors() {
  const [atMs, before] = [performance.now(), idleMs()];
  return () => (idleMs() - before) / (performance.now() - atMs);
}

/** Programs of low priority, as the simulated world, give way. */
function idleMs() {
  return cpus().reduce((sum, { times }) => sum + times.idle + times.nice, 0);
}

/** The largest file first, after those that take long though they are short: nothing else shall wait for them at the end. */
function filesOf(filters, isNight) {
  const weight = (file) => (LONG.some((name) => file.includes(`/${name}.`)) ? Number.MAX_SAFE_INTEGER : statSync(file).size);
  return globSync(FILES)
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .filter((file) => isNight || !readFileSync(file, 'utf8').includes('@module-tag nightly'))
    .sort((one, other) => weight(other) - weight(one));
}

/** @returns the exit code; null if a signal ended the process. What it prints appears when it has ended, as lanes overlap. */
function runInLane(way, parameters) {
  return new Promise((resolve) => {
    const child = spawn('unshare', parametersInNamespaces(way, 'vitest', parameters), {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, VMDHCP_LAB: '1' },
    });
    const printed = [];
    child.stdout.on('data', (part) => printed.push(part));
    child.stderr.on('data', (part) => printed.push(part));
    child.on('error', (error) => printed.push(Buffer.from(`${error.message}\n`)));
    child.on('close', (status) => {
      process.stdout.write(Buffer.concat(printed));
      resolve(status);
    });
  });
}
