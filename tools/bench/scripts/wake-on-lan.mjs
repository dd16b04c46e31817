// npm run bench -- wake-on-lan --only packets: what packets cost, the index of 10,000 virtual machines, and a flood of made-up addresses.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { UdpBurstSocket } from '@vmdhcp/linux-sockets';
import { decodeMagicPacket, encodeMagicPacket, PacketHearing, WakeUpWindow, wakeable } from '@vmdhcp/wake-on-lan';
import { measureInventory } from './machine-inventory.mjs';
import { timedChanges } from './timed-changes.mjs';
import { controllerRows } from './wake-on-lan-controller.mjs';

const MACHINES = 10_000;
const CHANGES = 2_000;
const PACKETS = 1_000_000;
const FLOOD = { perSecond: 100_000, seconds: 10 };
const FLOOD_WAKE_UPS = 100;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const rows = [];

const macOf = (index) =>
  (0x020000000000 + index)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');

function machine(index, label = 'yes') {
  const name = `vm-${index}`;
  return {
    namespace: `team-${index % 50}`,
    name,
    labels: { wake: label },
    macAddresses: [macOf(index), macOf(index + 1_000_000)],
  };
}

const machines = Array.from({ length: MACHINES }, (_, index) => machine(index));
const mappings = machines.map(({ namespace, name }, index) => ({ macAddress: macOf(index), namespace, name }));
const configs = [
  { name: 'all', namespaces: ['team-1', 'team-2'], mode: 'All' },
  { name: 'labelled', namespaces: [], mode: 'LabelSelector', selector: { matchLabels: { wake: 'yes' } } },
  { name: 'explicit', namespaces: [], mode: 'Explicit', mappings },
];
const builtAt = performance.now();
const index = wakeable(configs, machines);
rows.push(['index of 10,000 virtual machines by 3 configurations', `${(performance.now() - builtAt).toFixed(0)} ms`, '']);

const changed = (at, change) => machine(at, change % 2 === 0 ? 'no' : 'yes');
rows.push([
  'one machine changes: median, 99 %, longest (of that garbage collection, and processor time)',
  await timedChanges(CHANGES, (change) => index.set(changed((change * 7) % MACHINES, change))),
  '5 ms',
]);

rows.push(...(await controllerRows(machines, changed)));

const payload = encodeMagicPacket({ macAddress: macOf(1) });
const decodedAt = performance.now();
for (let packet = 0; packet < PACKETS; packet++) decodeMagicPacket(payload);
rows.push(['decodeMagicPacket', `${(PACKETS / (performance.now() - decodedAt) / 1000).toFixed(2)} M/s`, '0.1 M/s']);

const random = new Uint8Array(1472).fill(0xff).map((_, at) => (at % 7 === 6 ? 2 : 0xff));
const worstAt = performance.now();
for (let packet = 0; packet < PACKETS / 10; packet++) decodeMagicPacket(random);
const worst = PACKETS / 10 / (performance.now() - worstAt) / 1000;
rows.push(['the same, 1472 octets full of synchronization streams', `${worst.toFixed(2)} M/s`, '0.1 M/s']);

const window = new WakeUpWindow({ windowMs: 10_000, capacity: 10_000 });
collectGarbage();
const heapBefore = process.memoryUsage().heapUsed;
const floodAt = performance.now();
for (let made = 0; made < PACKETS; made++) window.see(macOf(made), made / 100);
const floodMs = performance.now() - floodAt;
collectGarbage();
const megabytes = (process.memoryUsage().heapUsed - heapBefore) / 1e6;
rows.push(['WakeUpWindow: made-up addresses', `${(PACKETS / floodMs / 1000).toFixed(2)} M/s`, '0.1 M/s']);
rows.push([`memory after a million of them (${window.size} entries)`, `${megabytes.toFixed(1)} MB`, 'bounded']);

rows.push(...(await measureInventory(collectGarbage)));

await measureFlood();

process.stdout.write(
  `| what | measured | goal |\n| --- | --- | --- |\n${rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`,
);

/** A flood of made-up addresses on a real socket, and real wake-ups in it: how many are heard, and after how long. */
async function measureFlood() {
  const list = Array.from({ length: FLOOD_WAKE_UPS }, (_, machineIndex) => macOf(machineIndex));
  const hearing = new PacketHearing({ machines: new Set(list), password: undefined, windowMs: 10_000 });
  const heardAtMs = new Map();
  const sentAtMs = new Map();
  let packets = 0;
  const handler = (datagram) => {
    packets++;
    const heard = hearing.hear(datagram, () => '127.0.0.1', performance.now());
    if (heard.kind !== 'wake-up') return;
    heardAtMs.set(heard.sighting.macAddress, performance.timeOrigin + performance.now());
    hearing.accept(heard.sighting);
  };
  const onError = (error) => process.stderr.write(`${error.message}\n`);
  const socket = await UdpBurstSocket.open({ interfaceName: 'lo', port: 0, handler, onError });
  collectGarbage();
  const before = process.memoryUsage.rss();
  const sent = await new Promise((resolve, reject) => {
    const workerData = { ...FLOOD, port: socket.port, machines: list };
    const worker = new Worker(new URL('wake-flood.mjs', import.meta.url), { workerData });
    worker.on('error', reject);
    worker.on('message', (message) => {
      if (message.kind === 'done') resolve(message.sent);
      else sentAtMs.set(message.macAddress, message.sentAtMs);
    });
  });
  // What the socket still has is read first.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const grown = (process.memoryUsage.rss() - before) / 1e6;
  socket.close();
  const delays = [...heardAtMs].map(([mac, atMs]) => atMs - sentAtMs.get(mac)).toSorted((one, other) => one - other);
  const perSecond = (count) => Math.round(count / FLOOD.seconds).toLocaleString('en');
  rows.push([`flood of made-up addresses: sent, heard a second`, `${perSecond(sent)}, ${perSecond(packets)}`, '100,000']);
  const shown = [0.5, 1].map((at) => delays[Math.floor(at * (delays.length - 1))]?.toFixed(1) ?? '-');
  rows.push([
    `real wake-ups in it: heard of ${FLOOD_WAKE_UPS}, median and longest`,
    `${delays.length}, ${shown.join(' and ')} ms`,
    'all, 1,000 ms',
  ]);
  rows.push(['memory of the process: more after the flood', `${grown.toFixed(0)} MB`, 'bounded']);
}
