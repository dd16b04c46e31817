// npm run bench -- allocator: what the pure library costs, in one table.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  AddressAllocator,
  answerOpenPacket,
  answerPacket,
  encodeMessage,
  formatBindingRecord,
  LeaseTable,
  OpenPool,
  PreparedAnswers,
  parseBindingRecord,
  parseMacAddress,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';

const ROUNDS = 7;

// Without it, memory that was freed meanwhile would be subtracted.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');

function poolOf(cidr, name = 'net', more = {}) {
  const checked = validatePool({ name, cidr, ...more });
  if (!checked.ok) throw new Error('no pool');
  return checked.value;
}

function macs(count) {
  return Array.from({ length: count }, (_, index) => parseMacAddress((0x020000000000 + index).toString(16).padStart(12, '0')));
}

/** The best of some rounds, in milliseconds: what disturbs a round only makes it longer. */
function best(work) {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    work();
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

/** The message of a client with these options. */
function encodedRequest(mac, options) {
  return encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 1, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    chaddr: Uint8Array.from(mac.split(':'), (octet) => Number.parseInt(octet, 16)),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options,
  }).bytes;
}

const rows = [];

const PAIRS = 1_000_000;
const [client] = macs(1);
const small = new AddressAllocator(poolOf('10.0.0.0/16'));
const pairMs = best(() => {
  for (let index = 0; index < PAIRS; index++) {
    small.allocate(client);
    small.release(client);
  }
});
rows.push(['allocate + release, one client', `${(PAIRS / pairMs / 1000).toFixed(1)} M pairs/s`, '5 M pairs/s']);

const many = macs(65_000);
const half = new AddressAllocator(poolOf('10.0.0.0/16'));
for (const mac of many.slice(0, 32_000)) half.allocate(mac);
const busyMs = best(() => {
  for (let index = 0; index < PAIRS; index++) {
    half.release(many[index % 32_000]);
    half.allocate(many[index % 32_000]);
  }
});
rows.push(['release + allocate, 32,000 of 65,533 in use', `${(PAIRS / busyMs / 1000).toFixed(1)} M pairs/s`, '']);

const fillMs = best(() => {
  const allocator = new AddressAllocator(poolOf('10.0.0.0/16'));
  for (const mac of many) allocator.allocate(mac);
});
rows.push(['fill a /16: 65,000 clients', `${fillMs.toFixed(1)} ms`, '50 ms']);

const large = poolOf('10.0.0.0/8');
collectGarbage();
const before = process.memoryUsage();
const kept = new AddressAllocator(large);
const after = process.memoryUsage();
const megabytes = (after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers) / 1e6;
rows.push(['memory of an empty /8 pool', `${megabytes.toFixed(2)} MB`, '4 MB']);
const countMs = best(() => {
  for (let index = 0; index < PAIRS; index++) kept.counts();
});
rows.push(['counts() of a /8', `${((countMs / PAIRS) * 1e6).toFixed(0)} ns`, '']);

const leases = new LeaseTable();
const pool = poolOf('10.0.0.0/16');
leases.replacePool(
  'net',
  many.slice(0, 10_000).map((macAddress, index) => ({ macAddress, address: 0x0a00000a + index })),
);
const serving = { pools: [new ServedPool(pool)], leaseOf: (name, mac) => leases.lookup(name, mac), into: new Uint8Array(1472) };
const packets = many.slice(0, 10_000).map((mac) =>
  encodedRequest(mac, [
    [53, Uint8Array.of(1)],
    [55, Uint8Array.of(1, 28, 3, 15, 6, 12)],
  ]),
);
const answerMs = best(() => {
  for (let round = 0; round < 20; round++) for (const packet of packets) answerPacket(packet, serving);
});
rows.push(['answerPacket: DISCOVER to OFFER octets, 10,000 leases', `${(200_000 / answerMs / 1000).toFixed(2)} M/s`, '']);
const prepared = new PreparedAnswers(serving.pools[0]);
const index = leases.indexOf('net');
const preparedMs = best(() => {
  for (let round = 0; round < 20; round++) for (const packet of packets) prepared.answer(packet, index, serving.into);
});
rows.push(['PreparedAnswers: the same', `${(200_000 / preparedMs / 1000).toFixed(2)} M/s`, '3 M/s']);
collectGarbage();
const heapBefore = process.memoryUsage().heapUsed;
for (let round = 0; round < 100; round++) for (const packet of packets) prepared.answer(packet, index, serving.into);
const octetsEach = (process.memoryUsage().heapUsed - heapBefore) / 1_000_000;
rows.push(['memory of a prepared answer, average of a million', `${octetsEach.toFixed(1)} octets`, '0']);

// A /16 whose every address but the server's is leased to an unknown client, as lines of text that a start reads.
const OPEN = { leaseTimeSeconds: 3600, serverAddress: '10.0.0.1', dynamic: ['10.0.0.2-10.0.255.254'] };
const openServed = new ServedPool(poolOf('10.0.0.0/16', 'net', OPEN));
const BINDINGS = 65_533;
const bindingLines = macs(BINDINGS).map((macAddress, index) =>
  formatBindingRecord({
    ...{
      kind: 'binding',
      poolName: 'net',
      address: 0x0a000002 + index,
      macAddress,
    },
    ...{ boundAtMs: 1_700_000_000_000, grantedAtMs: 1_700_000_000_000, endsAtMs: 1_700_003_600_000 + index, isReleased: false },
  }),
);
const NOW_MS = 1_700_000_000_000;
function* storedRecords() {
  for (const line of bindingLines) {
    const read = parseBindingRecord(line);
    if (read.ok) yield read.record;
  }
}
const restoreMs = best(() => new OpenPool(openServed, storedRecords(), NOW_MS));
rows.push([`OpenPool: restore ${BINDINGS.toLocaleString('en')} bindings from text`, `${restoreMs.toFixed(0)} ms`, '2,000 ms']);
collectGarbage();
const beforeBindings = process.memoryUsage();
const restored = new OpenPool(openServed, storedRecords(), NOW_MS);
collectGarbage();
const afterBindings = process.memoryUsage();
const bindingBytes = afterBindings.heapUsed + afterBindings.arrayBuffers - beforeBindings.heapUsed - beforeBindings.arrayBuffers;
rows.push([
  'its memory; of one binding',
  `${(bindingBytes / 1e6).toFixed(1)} MB; ${(bindingBytes / restored.bindings.size).toFixed(0)} octets`,
  'small',
]);
const openServing = (open) => ({
  ...serving,
  pools: [openServed],
  leaseOf: () => undefined,
  openPoolOf: () => open,
  nowMs: NOW_MS,
});
// What a client sends to select the offer: option 50 is written when the address is known.
const exchanged = many.slice(0, 10_000).map((mac, index) => ({
  discover: packets[index],
  request: encodedRequest(mac, [
    [53, Uint8Array.of(3)],
    [50, new Uint8Array(4)],
    [54, Uint8Array.of(10, 0, 0, 1)],
    [55, Uint8Array.of(1, 28, 3, 15, 6, 12)],
  ]),
}));
const REQUESTED_ADDRESS = 245;
const exchangeMs = best(() => {
  const open = new OpenPool(openServed, [], NOW_MS);
  const answering = openServing(open);
  for (const { discover, request } of exchanged) {
    const offer = answerOpenPacket(discover, answering);
    if (offer.kind !== 'reply') throw new Error('no offer');
    request.set(offer.bytes.subarray(16, 20), REQUESTED_ADDRESS);
    const answer = answerOpenPacket(request, answering);
    if (answer.kind !== 'record') throw new Error('no record');
    open.recorded(answer.record, NOW_MS);
  }
});
rows.push(['OpenPool: DISCOVER, REQUEST, recorded: 10,000 new clients', `${(10_000 / exchangeMs).toFixed(0)} k/s`, '']);
const full = openServing(restored);
const madeUp = packets.map((packet, index) => {
  const other = packet.slice();
  other[28] = 6;
  other[32] = index & 255;
  other[33] = index >> 8;
  return other;
});
const floodMs = best(() => {
  for (const packet of madeUp) answerOpenPacket(packet, full);
});
rows.push(['the same pool, full: DISCOVERs of made-up clients', `${(10_000 / floodMs).toFixed(0)} k/s`, '']);

// More than offers are remembered, so that each new one replaces an old one.
const offeringMs = best(() => {
  const answering = openServing(new OpenPool(openServed, [], NOW_MS));
  for (let round = 0; round < 5; round++) {
    for (const packet of madeUp) {
      packet[31] = round;
      answerOpenPacket(packet, answering);
    }
  }
});
rows.push(['an empty pool: OFFERs to made-up clients, which replace older ones', `${(50_000 / offeringMs).toFixed(0)} k/s`, '']);

process.stdout.write(
  `| what | measured | goal |\n| --- | --- | --- |\n${rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('')}`,
);
