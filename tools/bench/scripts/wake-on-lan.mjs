// npm run bench -- wake-on-lan --only packets: what packets cost, and the index of 10,000 virtual machines.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decodeMagicPacket, encodeMagicPacket, WakeUpWindow, wakeable } from '@vmdhcp/wake-on-lan';
import { measureInventory } from './machine-inventory.mjs';
import { timedChanges } from './timed-changes.mjs';
import { controllerRows } from './wake-on-lan-controller.mjs';

const MACHINES = 10_000;
const CHANGES = 2_000;
const PACKETS = 1_000_000;

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

process.stdout.write(
  `| what | measured | goal |\n| --- | --- | --- |\n${rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`,
);
