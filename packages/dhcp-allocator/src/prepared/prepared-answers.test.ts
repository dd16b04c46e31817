/** For any packet, a prepared answer equals the answer of `answerPacket`, octet for octet. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { macAddressBytes } from '../address/mac-address.js';
import { LeaseTable } from '../lease/lease-table.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { answerPacket } from '../server/answer-packet.js';
import { ServedPool } from '../server/served-pool.js';
import { encodeMessage } from '../wire/encode-message.js';
import { PreparedAnswers } from './prepared-answers.js';

const ip = (text: string): number => parseIpv4Address(text) as number;
const VM_A = '02:00:00:00:00:0a';
const VM_B = '02:00:00:00:00:0b';
const UNKNOWN = '02:00:00:00:00:0c';

const BASE: PoolDefinition = { name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1' };
const FULL: PoolDefinition = {
  ...BASE,
  rapidCommit: true,
  relays: ['10.9.0.0/24'],
  leaseTimeSeconds: 3600,
  options: {
    router: '10.0.0.254',
    dnsServers: ['10.0.0.53', '10.0.0.54'],
    domainName: 'example.com',
    domainSearch: ['example.com', 'lab.example.com'],
    ntpServers: ['10.0.0.123'],
    mtu: 1400,
    ipv6OnlyWaitSeconds: 1_800,
    staticRoutes: [{ destination: '10.8.0.0/16', gateway: '10.0.0.9' }],
    nextServer: '10.0.0.69',
    bootFile: 'pxelinux.0',
    bootByArchitecture: [{ architecture: 7, bootFile: 'ipxe.efi' }],
    byCode: [{ code: 44, value: '10.0.0.5' }],
  },
};
/** Its options fill more than a message of ordinary length. */
const LARGE: PoolDefinition = {
  ...BASE,
  options: {
    dnsServers: Array.from({ length: 60 }, (_, index) => `10.0.0.${index + 2}`),
    ntpServers: Array.from({ length: 30 }, (_, index) => `10.0.0.${index + 2}`),
  },
};

function network(definition: PoolDefinition) {
  const checked = validatePool(definition);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const served = new ServedPool(checked.value);
  const table = new LeaseTable();
  table.replacePool('net', [
    { macAddress: VM_A, address: ip('10.0.0.10'), hostname: 'vm-a' },
    { macAddress: VM_B, address: ip('10.0.0.11') },
  ]);
  const prepared = new PreparedAnswers(served);
  const leaseOf = (poolName: string, macAddress: string) => table.lookup(poolName, macAddress);
  return {
    readable: (packet: Uint8Array) => answerPacket(packet, { pools: [served], leaseOf }),
    prepared: (packet: Uint8Array) => {
      const into = new Uint8Array(1472).fill(0xaa);
      const reply = prepared.answer(packet, table.indexOf('net') ?? raise(), into);
      return reply === undefined ? undefined : { reply, octets: into.subarray(0, reply.length) };
    },
  };
}

type Network = ReturnType<typeof network>;

/** True if the packet has a prepared answer; fails if it differs from the readable one. */
function comparison({ readable, prepared }: Network, packet: Uint8Array): boolean {
  const quick = prepared(packet);
  if (quick === undefined) return false;
  const answer = readable(packet);
  if (answer.kind !== 'reply') throw new Error(`answerPacket has no reply: ${JSON.stringify(answer)}`);
  const { decision, destination, bytes, omittedOptions, client } = answer;
  if (!('lease' in decision)) throw new Error(`answerPacket decides ${decision.kind}`);
  expect(Buffer.from(quick.octets).toString('hex')).toBe(Buffer.from(bytes).toString('hex'));
  expect(quick.reply.destination).toEqual(destination);
  expect(quick.reply.lease).toBe(decision.lease);
  expect(quick.reply).toMatchObject({ kind: decision.kind, isRelayed: client.relayAddress !== undefined });
  expect(omittedOptions).toEqual([]);
  return true;
}

interface Fields {
  readonly mac?: string;
  readonly options: readonly (readonly [code: number, value: readonly number[]])[];
  readonly ciaddr?: string;
  readonly giaddr?: string;
  readonly flags?: number;
}

function packet({ mac = VM_A, options, ciaddr = '0.0.0.0', giaddr = '0.0.0.0', flags = 0 }: Fields): Uint8Array {
  return encodeMessage({
    op: 1,
    htype: 1,
    hlen: 6,
    hops: 3,
    xid: 0xfedcba98,
    secs: 7,
    flags,
    ciaddr: ip(ciaddr),
    yiaddr: 0,
    siaddr: 0,
    giaddr: ip(giaddr),
    chaddr: macAddressBytes(mac),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options: options.map(([code, value]) => [code, Uint8Array.from(value)] as const),
  }).bytes;
}

const address = (text: string): number[] => text.split('.').map(Number);
const DISCOVER = [53, [1]] as const;
const REQUEST = [53, [3]] as const;
const US = [54, address('10.0.0.1')] as const;
const OWN = [50, address('10.0.0.10')] as const;
const WISHES = [55, [1, 3, 6, 12, 15, 42, 119, 121]] as const;

describe('packets of ordinary clients have a prepared answer', () => {
  it.each<[string, Fields]>([
    ['DISCOVER', { options: [DISCOVER, WISHES] }],
    ['DISCOVER without a request list', { options: [DISCOVER] }],
    ['DISCOVER with an empty request list', { options: [DISCOVER, [55, []]] }],
    ['DISCOVER that asks for broadcast', { options: [DISCOVER, WISHES], flags: 0x8000 }],
    ['DISCOVER with a client identifier', { options: [DISCOVER, [61, [1, 2, 3, 4, 5, 6, 7]], WISHES] }],
    ['DISCOVER with room for large replies', { options: [DISCOVER, [57, [5, 220]], WISHES] }],
    ['DISCOVER through a relay of the subnet', { options: [DISCOVER, WISHES], giaddr: '10.0.0.2' }],
    [
      'DISCOVER through a relay that names the subnet',
      { options: [DISCOVER, WISHES, [82, [5, 4, 10, 0, 0, 0]]], giaddr: '10.9.0.2' },
    ],
    ['DISCOVER of a machine that boots', { options: [DISCOVER, [93, [0, 7]], [55, [1, 66, 67, 150]]] }],
    ['DISCOVER of a client whose lease has no host name', { mac: VM_B, options: [DISCOVER, WISHES] }],
    ['REQUEST, SELECTING', { options: [REQUEST, US, OWN, WISHES] }],
    ['REQUEST, INIT-REBOOT', { options: [REQUEST, OWN, WISHES] }],
    ['REQUEST, RENEWING', { options: [REQUEST, WISHES], ciaddr: '10.0.0.10' }],
    ['REQUEST, RENEWING with option 50, which does not count', { options: [REQUEST, [50, [1, 2, 3, 4]]], ciaddr: '10.0.0.10' }],
    ['REQUEST, RENEWING through a relay', { options: [REQUEST, WISHES], ciaddr: '10.0.0.10', giaddr: '10.0.0.2' }],
  ])('%s', (_, fields) => {
    expect(comparison(network(FULL), packet(fields))).toBe(true);
    expect(comparison(network(BASE), packet(fields))).toBe(fields.giaddr !== '10.9.0.2');
  });

  it('again and again, in turn with other wishes and other clients', () => {
    const one = network(FULL);
    for (const wishes of [[1, 3], [3, 1], [], [1, 3], [12], [6, 12, 1]]) {
      for (const mac of [VM_A, VM_B]) {
        for (const type of [1, 3]) {
          const requested = mac === VM_A ? '10.0.0.10' : '10.0.0.11';
          const options = [
            [53, [type]],
            [50, address(requested)],
            [55, wishes],
          ] as const;
          expect(comparison(one, packet({ mac, options }))).toBe(true);
        }
      }
    }
  });

  it('`answerPacket` answers clients whose request list is one too many to remember', () => {
    const one = network(BASE);
    const count = (first: number) =>
      Array.from({ length: 200 }, (_, index) =>
        comparison(one, packet({ options: [DISCOVER, [55, [first, index + 1]]] })),
      ).filter(Boolean).length;
    expect([count(1), count(2)]).toEqual([128, 0]);
    expect(comparison(one, packet({ options: [DISCOVER, [55, [1, 1]]] }))).toBe(true);
  });
});

describe('what is left to answerPacket', () => {
  it.each<[string, Fields]>([
    ['a client without a lease', { mac: UNKNOWN, options: [DISCOVER] }],
    ['a group address', { mac: '03:00:00:00:00:0a', options: [DISCOVER] }],
    ['an address that is not its own', { options: [REQUEST, US, [50, address('10.0.0.11')]] }],
    ['REQUEST without an address', { options: [REQUEST, US] }],
    ['REQUEST to another server', { options: [REQUEST, [54, address('10.0.0.9')], OWN] }],
    ['rapid commit', { options: [DISCOVER, [80, []]] }],
    ['INFORM', { options: [[53, [8]]], ciaddr: '10.0.0.10' }],
    ['RELEASE', { options: [[53, [7]], US], ciaddr: '10.0.0.10' }],
    ['a message of a server', { options: [[53, [2]]] }],
    ['no message type', { options: [WISHES] }],
    ['a message type of two octets', { options: [[53, [1, 1]]] }],
    ['an address of five octets', { options: [REQUEST, [50, [10, 0, 0, 10, 0]]], ciaddr: '10.0.0.10' }],
    ['a relay that is not answered', { options: [DISCOVER], giaddr: '10.7.0.2' }],
    ['a relay with the address of the server', { options: [DISCOVER], giaddr: '10.0.0.1' }],
    ['a link that is not the subnet of the pool', { options: [DISCOVER, [82, [5, 4, 10, 7, 0, 0]]], giaddr: '10.0.0.2' }],
    ['malformed relay information', { options: [DISCOVER, [82, [5, 9]]], giaddr: '10.0.0.2' }],
    ['a half architecture', { options: [DISCOVER, [93, [7]]] }],
  ])('%s', (_, fields) => expect(network(FULL).prepared(packet(fields))).toBeUndefined());

  it('an option that comes twice, as its pieces are joined (RFC 3396)', () => {
    const octets = [...packet({ options: [] }).subarray(0, 240), 53, 1, 1, 55, 1, 1, 55, 1, 3, 255];
    expect(network(FULL).prepared(Uint8Array.from(octets))).toBeUndefined();
  });

  it('a reply that has to be spread over other fields', () => {
    expect(network(LARGE).prepared(packet({ options: [DISCOVER] }))).toBeUndefined();
    expect(comparison(network(LARGE), packet({ options: [DISCOVER, [57, [5, 220]]] }))).toBe(true);
  });

  it('a packet that ends within an option, or is too short', () => {
    const whole = packet({ options: [DISCOVER, WISHES] }).subarray(0, 240 + 3 + 10);
    expect(comparison(network(BASE), whole)).toBe(true);
    for (let length = 0; length < 253; length++) {
      if (length !== 243) expect(network(BASE).prepared(whole.subarray(0, length)), `${length} octets`).toBeUndefined();
    }
  });
});

describe('law: a prepared answer equals the answer of answerPacket', () => {
  const networks = [BASE, FULL, LARGE, { ...FULL, rapidCommit: false, authoritative: true }].map(network);
  const option = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom<readonly [number, readonly number[]]>(US, OWN, WISHES, [80, []], [93, [0, 7]]) },
    fc.tuple(fc.constant(55), fc.array(fc.constantFrom(1, 3, 6, 12, 28, 51, 66, 67, 119, 121, 0, 255), { maxLength: 8 })),
    fc.tuple(fc.constant(57), fc.array(fc.constantFrom(0, 2, 5, 255), { minLength: 2, maxLength: 2 })),
    fc.tuple(
      fc.constant(82),
      fc.constantFrom([], [1, 1, 9], [5, 4, 10, 0, 0, 0], [5, 4, 0, 0, 0, 0], [5, 4, 10, 7, 0, 0], [5, 3, 1, 2, 3], [1]),
    ),
    fc.tuple(fc.constant(50), fc.constantFrom(address('10.0.0.11'), [0, 0, 0, 0], [10])),
    fc.tuple(
      fc.constantFrom(0, 12, 12, 52, 54, 60, 60, 61, 61, 93, 255),
      fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }),
    ),
  );
  const mostly = (usual: string, ...rare: string[]) =>
    fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
  const fields = fc.record({
    mac: mostly(VM_A, VM_B, UNKNOWN, '00:00:00:00:00:00'),
    type: fc.constantFrom(1, 1, 3, 3, 3, 8),
    options: fc.uniqueArray(option, { selector: ([code]) => code, maxLength: 5 }),
    ciaddr: mostly('0.0.0.0', '10.0.0.10', '10.0.0.11'),
    giaddr: mostly('0.0.0.0', '10.0.0.2', '10.0.0.1', '10.9.0.2', '10.0.0.255', '192.0.2.1'),
    flags: fc.constantFrom(0, 0x8000, 0x7fff),
  });

  it('for messages of any fields and options', () => {
    let prepared = 0;
    fc.assert(
      fc.property(fields, fc.nat(networks.length - 1), ({ type, options, ...rest }, index) => {
        const octets = packet({ ...rest, options: [[53, [type]], ...options] });
        if (comparison(networks[index] ?? raise(), octets)) prepared++;
      }),
      { numRuns: 3_000, seed: 1 },
    );
    expect(prepared).toBeGreaterThan(500);
  });

  it('for captured and odd packets, and those with some octets changed', () => {
    const files = ['captured-packets', 'odd-packets'].map((name) => new URL(`../wire/fixtures/${name}.json`, import.meta.url));
    const packets = files.flatMap((file) =>
      (JSON.parse(readFileSync(file, 'utf8')) as { hex: string }[]).map(({ hex }) => Uint8Array.from(Buffer.from(hex, 'hex'))),
    );
    let prepared = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...packets),
        fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
        fc.nat(networks.length - 1),
        (original, changes, index) => {
          const octets = Uint8Array.from(original);
          if (octets.length >= 34) octets.set(macAddressBytes(VM_A), 28);
          for (const [at, octet] of changes) if (at < octets.length) octets[at] = octet;
          if (comparison(networks[index] ?? raise(), octets)) prepared++;
        },
      ),
      { numRuns: 3_000, seed: 2 },
    );
    expect(prepared).toBeGreaterThan(200);
  });
});

it('the address of each client is its own', () => {
  const one = network(BASE);
  const yiaddr = (mac: string) => {
    const octets = one.prepared(packet({ mac, options: [DISCOVER] }))?.octets ?? raise();
    return formatIpv4Address(new DataView(octets.buffer).getUint32(16));
  };
  expect([yiaddr(VM_A), yiaddr(VM_B), yiaddr(VM_A)]).toEqual(['10.0.0.10', '10.0.0.11', '10.0.0.10']);
});

function raise(): never {
  throw new Error('missing');
}
