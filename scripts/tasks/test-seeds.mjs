// npm test -- seeds [RUNS [FIRST]]: crash stories and random stories of the controller, stories of agents, of topologies and of wake-ups in
// turn, RUNS of them (default 10,000), on all processors. A run that went wrong is named by its number; `npm test -- seeds 1 NUMBER` plays it again.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

const [runs, first] = [process.argv[2] ?? '10000', process.argv[3] ?? '0'].map(Number);
if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(first) || first < 0) {
  process.stderr.write('usage: npm test -- seeds [RUNS [FIRST]], both whole numbers\n');
  process.exit(64);
}
const BLOCK = 20;
const MOST_SHOWN = 50;
const reportEvery = Math.max(Math.ceil(runs / 20), 1);
const startedAt = performance.now();
const found = { 'double-owner': 0, leak: 0, unanswered: 0, other: 0 };
let next = first;
let done = 0;
let shown = 0;
let reportAt = reportEvery;

const workers = Math.min(availableParallelism(), Math.ceil(runs / BLOCK));
await Promise.all(Array.from({ length: workers }, work));
for (const kind of Object.keys(found)) if (found[kind] > 0) process.exitCode = 1;
if (found.other > 0) process.stdout.write(`${found.other} other faults\n`);
process.stdout.write(
  `${done} runs, ${found['double-owner']} double owners, ${found.leak} leaks, ${found.unanswered} clients without a reply\n`,
);

/** Has a worker play blocks of runs as long as there are any. */
function work() {
  const worker = new Worker(new URL('../play-seeds.mjs', import.meta.url));
  return new Promise((resolve, reject) => {
    const handOut = () => {
      const end = Math.min(next + BLOCK, first + runs);
      if (next >= end) {
        void worker.terminate();
        resolve();
        return;
      }
      worker.postMessage({ first: next, end });
      next = end;
    };
    worker.on('error', reject);
    worker.on('message', ({ count, faults }) => {
      done += count;
      for (const fault of faults) note(fault);
      report();
      handOut();
    });
    handOut();
  });
}

function note({ run, kind, message }) {
  if (!(kind in found))
    throw new Error(`run ${run}: a fault of no known kind (${kind}): ${message}; give the story one of ${Object.keys(found)}`);
  found[kind]++;
  if (++shown <= MOST_SHOWN) process.stdout.write(`run ${run}: ${kind}: ${message}\n`);
}

function report() {
  if (done < reportAt) return;
  reportAt += reportEvery;
  const seconds = (performance.now() - startedAt) / 1000;
  process.stderr.write(`${done} of ${runs} runs, ${seconds.toFixed(0)} s, ${(done / seconds).toFixed(1)} runs/s\n`);
}
