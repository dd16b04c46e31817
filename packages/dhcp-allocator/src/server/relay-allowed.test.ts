import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatIpv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { cidrContains, parseIpv4Cidr } from '../address/ipv4-cidr.js';
import { macAddressBytes } from '../address/mac-address.js';
import { LeaseTable } from '../lease/lease-table.js';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { validatePool } from '../pool/validate-pool.js';
import { toBytes } from '../wire/big-endian.js';
import { encodeMessage } from '../wire/encode-message.js';
import { type Answer, answerPacket } from './answer-packet.js';
import { ServedPool } from './served-pool.js';

const VM_A = '02:00:00:00:00:0a';
const ip = (text: string): number => parseIpv4Address(text) as number;
const SUBNET = { network: ip('10.0.0.0'), prefixLength: 24 };

interface Fields {
  readonly type?: number;
  readonly ciaddr?: number;
  readonly giaddr?: number;
  readonly flags?: number;
  readonly link?: number;
  readonly requested?: number;
  readonly server?: number;
}

function packet({ type = 1, ciaddr = 0, giaddr = 0, flags = 0, link, requested, server }: Fields): Uint8Array {
  const options: [number, Uint8Array][] = [[53, Uint8Array.of(type)]];
  if (requested !== undefined) options.push([50, toBytes(requested, 4)]);
  if (server !== undefined) options.push([54, toBytes(server, 4)]);
  if (link !== undefined) options.push([82, Uint8Array.of(5, 4, ...toBytes(link, 4))]);
  return encodeMessage({
    ...{ op: 1, htype: 1, hlen: 6, hops: 0, xid: 1, secs: 0, flags, ciaddr, yiaddr: 0, siaddr: 0, giaddr },
    chaddr: macAddressBytes(VM_A),
    sname: new Uint8Array(0),
    file: new Uint8Array(0),
    options,
  }).bytes;
}

/** We are 10.0.0.1; vm-a leases 10.0.0.10. */
function serve(definition: Partial<PoolDefinition> = {}): (fields: Fields) => Answer {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1', ...definition });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const leases = new LeaseTable();
  leases.replacePool('net', [{ macAddress: VM_A, address: ip('10.0.0.10') }]);
  const pools = [new ServedPool(checked.value)];
  return (fields) => answerPacket(packet(fields), { pools, leaseOf: (pool, mac) => leases.lookup(pool, mac) });
}

function outcome(answer: Answer): string {
  if (answer.kind === 'reply') return `to ${formatIpv4Address(answer.destination.address)}`;
  return 'reason' in answer ? `${answer.kind} ${answer.reason}` : answer.kind;
}

describe('a relay is answered if it makes sense: it is in the subnet of the pool, or the pool allows it', () => {
  const link = ip('10.0.0.0');
  it.each<[what: string, relays: readonly string[], giaddr: string, outcome: string]>([
    ['one in the subnet', [], '10.0.0.254', 'to 10.0.0.254'],
    ['one elsewhere', [], '192.0.2.1', 'dropped relay-not-allowed'],
    ['one that the pool names', ['192.0.2.1'], '192.0.2.1', 'to 192.0.2.1'],
    ['the neighbour of one that the pool names', ['192.0.2.1'], '192.0.2.2', 'dropped relay-not-allowed'],
    ['one in a subnet that the pool names', ['198.51.100.7', '192.0.2.0/24'], '192.0.2.77', 'to 192.0.2.77'],
    ['the server itself', [], '10.0.0.1', 'dropped relay-not-allowed'],
    ['the network address', [], '10.0.0.0', 'dropped relay-not-allowed'],
    ['the broadcast address', [], '10.0.0.255', 'dropped relay-not-allowed'],
    ['broadcast, where every relay is allowed', ['0.0.0.0/0'], '255.255.255.255', 'dropped relay-not-allowed'],
    ['a group, where every relay is allowed', ['0.0.0.0/0'], '224.0.0.1', 'dropped relay-not-allowed'],
    ['this host, where every relay is allowed', ['0.0.0.0/0'], '127.0.0.1', 'dropped relay-not-allowed'],
  ])('%s', (_what, relays, giaddr, expected) => {
    const answer = serve({ relays });
    expect(outcome(answer({ giaddr: ip(giaddr), link }))).toBe(expected);
    expect(outcome(answer({}))).toBe('to 10.0.0.10');
  });

  it('nothing else that it hands on counts either', () => {
    const answer = serve();
    const from = { giaddr: ip('192.0.2.1'), link, server: ip('10.0.0.1') };
    const fields: Fields[] = [
      { ...from, type: 3, requested: ip('10.0.0.10') },
      { ...from, type: 3, requested: ip('10.0.0.99') },
      { ...from, type: 4, requested: ip('10.0.0.10') },
      { ...from, type: 7, ciaddr: ip('10.0.0.10') },
      { ...from, type: 8, ciaddr: ip('10.0.0.10') },
    ];
    expect(fields.map((one) => outcome(answer(one)))).toEqual(fields.map(() => 'dropped relay-not-allowed'));
  });

  it('whatever a message contains, a unicast reply goes into the subnet of the pool or to a relay that the pool allows', () => {
    const relay = parseIpv4Cidr('192.0.2.0/28');
    const answer = serve({ relays: ['192.0.2.0/28'], authoritative: true, rapidCommit: true });
    const address = fc.oneof(
      fc
        .constantFrom('0.0.0.0', '10.0.0.1', '10.0.0.10', '10.0.0.99', '10.0.0.254', '192.0.2.1', '192.0.2.99', '8.8.8.8')
        .map(ip),
      fc.integer({ min: 0, max: 0xffff_ffff }),
    );
    const optional = fc.option(address, { nil: undefined });
    let replies = 0;
    fc.assert(
      fc.property(
        fc.record({
          type: fc.constantFrom(1, 3, 4, 7, 8),
          ciaddr: address,
          giaddr: address,
          flags: fc.constantFrom(0, 0x8000),
          link: optional,
          requested: optional,
          server: optional,
        }),
        ({ link, requested, server, ...fields }) => {
          const named = { ...(link !== undefined && { link }), ...(requested !== undefined && { requested }) };
          const reply = answer({ ...fields, ...named, ...(server !== undefined && { server }) });
          if (reply.kind !== 'reply' || reply.destination.kind === 'broadcast') return;
          replies++;
          const to = reply.destination.address;
          expect(cidrContains(SUBNET, to) || (relay !== undefined && cidrContains(relay, to))).toBe(true);
        },
      ),
      { numRuns: 5_000, seed: 1 },
    );
    expect(replies).toBeGreaterThan(100);
  });
});
