// A worker of `npm run fuzz`: takes slices `{ seed, count }`, and answers each with what became of its packets, or the first that failed.
import { readFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import {
  answerPacket,
  cidrContains,
  decodeMessage,
  decodeOption,
  encodeMessage,
  LeaseTable,
  optionNameOf,
  ServedPool,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { MAGIC_SEEDS, magicOutcomeOf } from './fuzz-magic-packets.mjs';

const GOOD_EVERY = 1_000;
/** Every eighth packet is a magic packet. */
const MAGIC_EVERY = 8;
const FIXTURES = new URL('../../../packages/dhcp-allocator/src/wire/fixtures/', import.meta.url);
const seeds = ['captured-packets', 'odd-packets'].flatMap((name) =>
  JSON.parse(readFileSync(new URL(`${name}.json`, FIXTURES), 'utf8')).map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex'))),
);

const leases = new LeaseTable();
leases.replacePool('net', [{ macAddress: '02:00:00:00:00:01', address: 0x0a090032 }]);
leases.replacePool('net-48', [
  { macAddress: '02:00:00:00:48:01', address: 0xc0a8300a },
  { macAddress: '02:00:00:00:48:02', address: 0xc0a8300b },
]);
const pools = [
  poolOf({
    ...{ name: 'net', cidr: '10.9.0.0/24', serverAddress: '10.9.0.1', authoritative: true, rapidCommit: true },
    options: { router: '10.9.0.254' },
    relays: ['192.0.2.0/24'],
  }),
  poolOf({ name: 'net-48', cidr: '192.168.48.0/24', serverAddress: '192.168.48.2' }),
];
const serving = { pools, leaseOf: (pool, mac) => leases.lookup(pool, mac), into: new Uint8Array(1472) };
const good = goodDiscover();
let state = 1;

parentPort.on('message', ({ seed, count }) => {
  state = hash(seed);
  const counts = new Map();
  for (let done = 1; done <= count; done++) {
    const isMagic = done % MAGIC_EVERY === 0;
    const from = isMagic ? MAGIC_SEEDS : seeds;
    const packet = mutate(from[random(from.length)]);
    const outcome = isMagic ? magicOutcomeOf(packet) : outcomeOf(packet, done % GOOD_EVERY === 0);
    if (typeof outcome !== 'string') {
      parentPort.postMessage({ failure: { ...outcome, hex: Buffer.from(packet).toString('hex') } });
      return;
    }
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  }
  parentPort.postMessage({ count, counts });
});

/** What became of the packet, or why that must not be. */
function outcomeOf(packet, isGoodNext) {
  try {
    const answer = answerPacket(packet, serving);
    const why = answer.kind === 'reply' ? whyWrong(answer) : undefined;
    if (why !== undefined) return { why };
    readEveryOption(packet);
    if (isGoodNext && answerPacket(good, serving).kind !== 'reply') return { why: 'the next good client got no answer' };
    return answer.kind === 'dropped' || answer.kind === 'ignored' ? `${answer.kind} ${answer.reason}` : answer.kind;
  } catch (error) {
    return { why: error.stack };
  }
}

function whyWrong({ bytes, destination: { kind, address }, pool }) {
  if (!decodeMessage(bytes).ok) return 'the reply cannot be read';
  const isNear = [pool.cidr, ...pool.relays].some((cidr) => cidrContains(cidr, address));
  return kind === 'broadcast' || isNear ? undefined : 'the reply goes to an address outside the networks of the pool';
}

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

/** FNV-1a of a text; never 0, from which xorshift does not move. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return value || 1;
}

function poolOf(definition) {
  const checked = validatePool(definition);
  if (!checked.ok) throw new Error(`the pool is wrong: ${JSON.stringify(checked.problems)}`);
  return new ServedPool(checked.value);
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
