// Runs the test files with real interfaces: each file in namespaces of its own, one more at a time than there are processors.
import { spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parametersInNamespaces } from './in-namespaces.mjs';

const FILES = 'tools/lab/tests/*.lab.test.ts';
/** More of them wait for each other's timers no better, and need memory. */
const MOST_LANES = 4;

/**
 * @param {string[]} way parameters of `unshare`, as `findNamespaces` returns them
 * @param {string[]} filters parts of names of files; with an option of vitest among them, all files run in one process
 * @param {(files: string[]) => { parameters: string[], ended: (status: number | null) => void }} prepare for one process
 */
export async function runLabTests(way, filters, prepare) {
  const waiting = filters.some((filter) => filter.startsWith('-')) ? [filters] : filesOf(filters).map((file) => [file]);
  // They use two fifths of the processors: most of the time they wait for timers of the protocol.
  const lanes = Math.min(availableParallelism() + 1, MOST_LANES);
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      for (let files = waiting.shift(); files !== undefined; files = waiting.shift()) {
        const { parameters, ended } = prepare(files);
        ended(await runInLane(way, parameters));
      }
    }),
  );
}

/** The largest file first: it has the most tests, and no lane shall be left with it at the end. */
function filesOf(filters) {
  return globSync(FILES)
    .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
    .sort((one, other) => statSync(other).size - statSync(one).size);
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
