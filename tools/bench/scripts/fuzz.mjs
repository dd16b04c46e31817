// npm run fuzz [-- PACKETS [SEED]]: mutates captured packets of real clients and servers, and the corpus of odd packets (default one
// hundred million), and puts every one through the whole server, on every processor. Whatever comes in, nothing may throw, replies go
// only to the networks of the pools, and the next good client must get its address. Every eighth packet is a mutated magic packet, and must wake what
// a search of every offset finds. The same seed gives the same packets again.
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';

const SLICE = 500_000;
const REPORT_INTERVAL_MS = 10_000;

const [, , wanted = '100000000', seed = '1'] = process.argv;
const packets = Number(wanted);
const slices = Math.ceil(packets / SLICE);
const outcomes = new Map();
const startedAt = performance.now();
const secondsSoFar = () => (performance.now() - startedAt) / 1000;
let begun = 0;
let done = 0;

const timer = setInterval(report, REPORT_INTERVAL_MS);
await Promise.all(Array.from({ length: Math.min(availableParallelism(), slices) }, work));
clearInterval(timer);
report();
for (const [outcome, count] of [...outcomes].toSorted((one, other) => other[1] - one[1]))
  process.stdout.write(`${String(count).padStart(12)}  ${outcome}\n`);
process.stdout.write(`${done.toLocaleString('en')} packets in ${Math.round(secondsSoFar())} s, 0 thrown\n`);

/** One worker, which takes one slice after the other. */
function work() {
  const worker = new Worker(new URL('fuzz-worker.mjs', import.meta.url));
  return new Promise((resolve, reject) => {
    const next = () => {
      if (begun === slices) {
        resolve(worker.terminate());
        return;
      }
      const slice = begun++;
      worker.postMessage({ seed: `${seed} ${slice}`, count: Math.min(SLICE, packets - slice * SLICE) });
    };
    worker.on('message', ({ failure, count, counts }) => {
      if (failure !== undefined) fail(failure);
      done += count;
      for (const [outcome, times] of counts) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times);
      next();
    });
    worker.on('error', reject);
    next();
  });
}

function report() {
  const perSecond = Math.round(done / secondsSoFar());
  const megabytes = Math.round(process.memoryUsage().rss / 1e6);
  const parts = [
    `${done.toLocaleString('en')} of ${packets.toLocaleString('en')} packets`,
    `${perSecond.toLocaleString('en')}/s`,
  ];
  process.stderr.write(`${[...parts, `${megabytes} MB`].join(', ')}\n`);
}

function fail({ why, hex }) {
  process.stderr.write(`${why}\npacket: ${hex}\n`);
  process.stderr.write(
    'Add it when it is corrected: to packages/dhcp-allocator/src/wire/fixtures/odd-packets.json, or magic-packet.test.ts.\n',
  );
  process.exit(1);
}
