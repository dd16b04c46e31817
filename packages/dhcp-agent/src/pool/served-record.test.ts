import { type Pool, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DhcpServer } from '../server/dhcp-server.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { ServedRecord } from './served-record.js';

const mac = (number: number) => `02:00:00:00:00:${number.toString(16).padStart(2, '0')}`;

function poolOf(hostname: string): Pool {
  const checked = validatePool({
    name: 'default/net',
    cidr: '10.0.0.0/24',
    serverAddress: '10.0.0.2',
    start: '10.0.0.10',
    end: '10.0.0.99',
    reservations: [{ macAddress: mac(1), address: '10.0.0.11', hostname }],
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value;
}

function serverOf() {
  const observer = new RecordingObserver();
  const server = new DhcpServer({
    observer,
    nowMs: () => 0,
    findUsers: async () => ({ byClient: false, others: [] }),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
  });
  return { observer, server };
}

const POOLS = [poolOf('one'), poolOf('other')] as const;
const status = (allocated: Readonly<Record<string, string>>) => ({ ipv4: { allocated } });

describe('ServedRecord', () => {
  it('law: after any versions, the server has the same leases as one that read only the last, and reports the same new ones', () => {
    const key = fc.integer({ min: 10, max: 18 }).map((last) => `10.0.0.${last}`);
    const client = fc.oneof(
      { weight: 14, arbitrary: fc.nat(9).map(mac) },
      fc.constantFrom('RESERVED', 'EXCLUDED', 'nonsense', mac(10).toUpperCase()),
    );
    const change = fc.record({
      entries: fc.array(fc.tuple(key, fc.option(client)), { maxLength: 3 }),
      pool: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constant(1)),
      silent: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, fc.nat(9).map(mac)),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12, size: 'max' }), (changes) => {
        const [kept, anew] = [serverOf(), serverOf()];
        const record = new ServedRecord(kept.server);
        const allocated: Record<string, string> = {};
        for (const { entries, pool: index, silent } of changes) {
          const pool = POOLS[index] as Pool;
          for (const [address, one] of entries) {
            delete allocated[address];
            if (one !== null) allocated[address] = one;
          }
          const silenced = silent === undefined ? undefined : () => new Set([silent]);
          const fresh = record.serve(pool, status({ ...allocated }), silenced);
          const expected = new ServedRecord(anew.server).serve(pool, status({ ...allocated }), silenced);
          const sorted = <Item>(items: Iterable<Item>) => [...items].map((item) => JSON.stringify(item)).toSorted();
          expect(sorted(fresh)).toEqual(sorted(expected));
          expect(sorted(kept.server.leases())).toEqual(sorted(anew.server.leases()));
          expect(sorted(kept.observer.events)).toEqual(sorted(anew.observer.events));
        }
      }),
      { numRuns: 500 },
    );
  });

  it('one more client in a large pool changes one lease: all others stay the same objects', () => {
    const { server } = serverOf();
    const record = new ServedRecord(server);
    const before = Object.fromEntries(Array.from({ length: 80 }, (_, index) => [`10.0.0.${index + 10}`, mac(index + 2)]));
    record.serve(POOLS[0], status(before));
    const leases = [...server.leases()];
    const fresh = record.serve(POOLS[0], status({ ...before, '10.0.0.95': mac(200) }));
    expect(fresh).toMatchObject([{ macAddress: mac(200), address: parseIpv4Address('10.0.0.95') }]);
    expect([...server.leases()].slice(0, 80).every((lease, index) => lease === leases[index])).toBe(true);
  });
});
