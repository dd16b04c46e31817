/** Pools that share an interface: a prepared answer equals the answer of `answerPacket`, and comes from the same pool. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import { LeaseTable } from '../lease/lease-table.js';
import { validatePool } from '../pool/validate-pool.js';
import { answerPacket } from '../server/answer-packet.js';
import { ServedPool } from '../server/served-pool.js';
import { encodeMessage } from '../wire/encode-message.js';
import { answerPreparedAmong } from './answer-prepared-among.js';
import { PreparedAnswers } from './prepared-answers.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const address = (text: string): number[] => text.split('.').map(Number);
const ONLY_BLUE = '02:00:00:00:00:0a';
const ONLY_GREEN = '02:00:00:00:00:0b';
const BOTH = '02:00:00:00:00:0c';
const NEITHER = '02:00:00:00:00:0d';
const DISCOVER = [53, [1]] as const;
const REQUEST = [53, [3]] as const;

function pool(name: string, prefix: string, rapidCommit: boolean): ServedPool {
  const checked = validatePool({
    name,
    cidr: `${prefix}.0/24`,
    serverAddress: `${prefix}.1`,
    rapidCommit,
    relays: ['10.9.0.0/24'],
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return new ServedPool(checked.value);
}

const POOLS = [pool('blue', '10.0.0', false), pool('green', '10.0.1', true)];
const TABLE = new LeaseTable();
TABLE.replacePool('blue', [
  { macAddress: ONLY_BLUE, address: ip('10.0.0.10') },
  { macAddress: BOTH, address: ip('10.0.0.12') },
]);
TABLE.replacePool('green', [
  { macAddress: ONLY_GREEN, address: ip('10.0.1.11') },
  { macAddress: BOTH, address: ip('10.0.1.12') },
]);
const READY = POOLS.map((served) => ({
  prepared: new PreparedAnswers(served),
  leases: TABLE.indexOf(served.pool.name) ?? raise(),
}));

interface Fields {
  readonly mac: string;
  readonly options: readonly (readonly [code: number, value: readonly number[]])[];
  readonly ciaddr?: string;
  readonly giaddr?: string;
}

function packet({ mac, options, ciaddr = '0.0.0.0', giaddr = '0.0.0.0' }: Fields): Uint8Array {
  return encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 7, secs: 0, flags: 0, yiaddr: 0, siaddr: 0 },
    ciaddr: ip(ciaddr),
    giaddr: ip(giaddr),
    chaddr: macAddressBytes(mac),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: options.map(([code, value]) => [code, Uint8Array.from(value)] as const),
  }).bytes;
}

/** The pool whose prepared answer the packet has, undefined if it has none; fails if `answerPacket` answers otherwise. */
function preparedBy(octets: Uint8Array): string | undefined {
  const into = new Uint8Array(1472).fill(0xaa);
  const quick = answerPreparedAmong(octets, READY, into);
  if (quick === undefined) return undefined;
  const answer = answerPacket(octets, { pools: POOLS, leaseOf: (poolName, mac) => TABLE.lookup(poolName, mac) });
  if (answer.kind !== 'reply' || !('lease' in answer.decision)) throw new Error(`answerPacket has no such reply: ${answer.kind}`);
  expect(Buffer.from(into.subarray(0, quick.length)).toString('hex')).toBe(Buffer.from(answer.bytes).toString('hex'));
  expect(quick.pool).toBe(answer.pool);
  expect(quick.lease).toBe(answer.decision.lease);
  expect(quick.destination).toEqual(answer.destination);
  return quick.pool.name;
}

describe('pools that share an interface', () => {
  it.each<[string, Fields, string | undefined]>([
    ['a client of the first pool', { mac: ONLY_BLUE, options: [DISCOVER] }, 'blue'],
    ['a client of the second pool', { mac: ONLY_GREEN, options: [DISCOVER] }, 'green'],
    ['a client of both is left to answerPacket', { mac: BOTH, options: [DISCOVER] }, undefined],
    ['a client of neither', { mac: NEITHER, options: [DISCOVER] }, undefined],
    [
      'REQUEST to the server of its pool',
      { mac: ONLY_GREEN, options: [REQUEST, [50, address('10.0.1.11')], [54, address('10.0.1.1')]] },
      'green',
    ],
    [
      'REQUEST to the server of the other pool',
      { mac: ONLY_GREEN, options: [REQUEST, [50, address('10.0.1.11')], [54, address('10.0.0.1')]] },
      undefined,
    ],
    [
      'DISCOVER that names the server of the other pool',
      { mac: ONLY_GREEN, options: [DISCOVER, [54, address('10.0.0.1')]] },
      undefined,
    ],
    ['RENEWING', { mac: ONLY_GREEN, options: [REQUEST], ciaddr: '10.0.1.11' }, 'green'],
    ['through a relay of its subnet', { mac: ONLY_GREEN, options: [DISCOVER], giaddr: '10.0.1.2' }, 'green'],
    ['through a relay of the other subnet', { mac: ONLY_GREEN, options: [DISCOVER], giaddr: '10.0.0.2' }, undefined],
  ])('%s', (_, fields, expected) => expect(preparedBy(packet(fields))).toBe(expected));

  it('law: whatever clients claim and name, answer and pool are the same as from answerPacket', () => {
    const option = fc.oneof(
      fc.tuple(fc.constant(50), fc.constantFrom('10.0.0.10', '10.0.1.11', '10.0.0.12', '10.0.1.12', '10.5.0.1').map(address)),
      fc.tuple(fc.constant(54), fc.constantFrom('10.0.0.1', '10.0.1.1', '10.5.0.1', '0.0.0.0').map(address)),
      fc.tuple(fc.constant(82), fc.constantFrom([5, 4, 10, 0, 0, 0], [5, 4, 10, 0, 1, 0], [1, 1, 9])),
      fc.constantFrom<readonly [number, readonly number[]]>([80, []], [55, [1, 3, 12]]),
    );
    const fields = fc.record({
      mac: fc.constantFrom(ONLY_BLUE, ONLY_GREEN, ONLY_GREEN, BOTH, NEITHER),
      type: fc.constantFrom(1, 3, 3, 8),
      options: fc.uniqueArray(option, { selector: ([code]) => code, maxLength: 4 }),
      ciaddr: fc.constantFrom('0.0.0.0', '0.0.0.0', '10.0.0.10', '10.0.1.11', '10.0.1.12'),
      giaddr: fc.constantFrom('0.0.0.0', '0.0.0.0', '10.0.0.2', '10.0.1.2', '10.9.0.2'),
    });
    const counts = new Map<string, number>();
    fc.assert(
      fc.property(fields, ({ type, options, ...rest }) => {
        const name = preparedBy(packet({ ...rest, options: [[53, [type]], ...options] })) ?? 'left';
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }),
      { numRuns: 3_000, seed: 1 },
    );
    for (const name of ['blue', 'green', 'left']) expect(counts.get(name), name).toBeGreaterThan(50);
  });
});

function raise(): never {
  throw new Error('missing');
}
