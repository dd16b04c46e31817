// npm run fuzz [-- PACKETS]: mutates captured packets of real clients and servers (default ten million), and puts every one
// through the whole server. Whatever comes in, nothing may throw, and the next good client must get its address.
import { readFileSync } from 'node:fs';
import {
  answerPacket,
  decodeMessage,
  decodeOption,
  encodeMessage,
  LeaseTable,
  optionNameOf,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';

const [, , wanted = '10000000', seedText = '1'] = process.argv;
const packets = Number(wanted);
const FIXTURES = new URL('../../dhcp-allocator/src/wire/fixtures/captured-packets.json', import.meta.url);
const seeds = JSON.parse(readFileSync(FIXTURES, 'utf8')).map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex')));
const GOOD_EVERY = 1_000;
const REPORT_EVERY = Math.max(Math.floor(packets / 10), 1);

const VM_A = '02:00:00:00:00:01';
const checked = validatePool({
  name: 'net',
  cidr: '10.9.0.0/24',
  serverAddress: '10.9.0.1',
  authoritative: true,
  rapidCommit: true,
  options: { router: '10.9.0.254' },
});
if (!checked.ok) throw new Error('no pool');
const leases = new LeaseTable();
leases.replacePool('net', [{ macAddress: VM_A, address: 0x0a090032 }]);
const into = new Uint8Array(1472);
const serving = { pools: [new ServedPool(checked.value)], leaseOf: (pool, mac) => leases.lookup(pool, mac), into };
const good = goodDiscover();

let state = Number(seedText) >>> 0 || 1;
const outcomes = new Map();
const startedAt = performance.now();
for (let count = 1; count <= packets; count++) {
  const packet = mutate(seeds[random(seeds.length)]);
  try {
    const answer = answerPacket(packet, serving);
    note(answer.kind === 'dropped' || answer.kind === 'ignored' ? `${answer.kind} ${answer.reason}` : answer.kind);
    if (answer.kind === 'reply' && !decodeMessage(answer.bytes).ok) fail('a reply of ours cannot be read', packet);
    readEveryOption(packet);
    if (count % GOOD_EVERY === 0 && answerPacket(good, serving).kind !== 'reply')
      fail('the next good client got nothing', packet);
  } catch (error) {
    fail(error.stack, packet);
  }
  if (count % REPORT_EVERY === 0) {
    const perSecond = Math.round((count / (performance.now() - startedAt)) * 1000);
    process.stderr.write(
      `${count.toLocaleString('en')} packets, ${perSecond.toLocaleString('en')}/s, ${Math.round(process.memoryUsage().rss / 1e6)} MB\n`,
    );
  }
}
for (const [outcome, count] of [...outcomes].toSorted((one, other) => other[1] - one[1]))
  process.stdout.write(`${String(count).padStart(10)}  ${outcome}\n`);
process.stdout.write(`${packets} packets, 0 thrown\n`);

function readEveryOption(packet) {
  const decoded = decodeMessage(packet);
  if (!decoded.ok) return;
  for (const [code, value] of decoded.message.options) {
    const name = optionNameOf(code);
    if (name !== undefined) decodeOption(name, value);
  }
}

/** Changes octets, cuts, lengthens, repeats or swaps pieces: one to eight of these. */
function mutate(seed) {
  let packet = seed.slice();
  for (let changes = 1 + random(8); changes > 0; changes--) packet = mutateOnce(packet);
  return packet;
}

function mutateOnce(packet) {
  if (packet.length === 0) return packet;
  const at = random(packet.length);
  switch (random(8)) {
    case 0:
      return packet.slice(0, at);
    case 1: {
      const longer = new Uint8Array(Math.min(packet.length + random(600), 2048));
      longer.set(packet.subarray(0, longer.length));
      return longer;
    }
    case 2:
      return packet.fill(random(256), at, at + random(40));
    case 3:
      return packet.copyWithin(at, random(packet.length), random(packet.length));
    case 4:
      // Among the options, where structure is.
      if (packet.length > 242) packet[240 + random(packet.length - 240)] = random(256);
      return packet;
    case 5:
      packet[at] = [0, 1, 53, 52, 82, 119, 121, 255][random(8)];
      return packet;
    default:
      packet[at] = random(256);
      return packet;
  }
}

/** xorshift32: a seed gives the same packets again. */
function random(below) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % below;
}

function note(outcome) {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}

function fail(why, packet) {
  process.stderr.write(`${why}\npacket: ${Buffer.from(packet).toString('hex')}\n`);
  process.exit(1);
}

function goodDiscover() {
  return encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 1, secs: 0, flags: 0, ciaddr: 0, yiaddr: 0, siaddr: 0, giaddr: 0 },
    chaddr: Uint8Array.of(2, 0, 0, 0, 0, 1),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: [[53, Uint8Array.of(1)]],
  }).bytes;
}
