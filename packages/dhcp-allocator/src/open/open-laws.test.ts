/** What must hold for an open pool, whatever happens: packets in any order, records that fail and may survive nevertheless, crashes, time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BindingRecord, isBindingValid } from '../binding/binding.js';
import { BindingTable } from '../binding/binding-table.js';
import { OpenPool } from './open-pool.js';
import { clientPacket, ip, mac, OpenServer, SERVER } from './open-pool-fixtures.js';
import { step, stepOrForgery, World } from './open-world-fixtures.js';

/** `VMDHCP_LAW_RUNS=10000` plays more. */
const RUNS = Number(process.env['VMDHCP_LAW_RUNS'] ?? 150);

describe('laws of an open pool', () => {
  it('no address has two users, and none that is declared and served has another user, after any steps and forged messages, without a probe, whatever client identifiers are sent and through whatever relay', () => {
    fc.assert(
      fc.property(fc.array(stepOrForgery, { maxLength: 120, size: 'max' }), (steps) => {
        const world = new World();
        for (const each of steps) {
          world.run(each);
          const used = [...world.used(), ...world.servedDeclarations()];
          expect(new Set(used).size, used.join(' ')).toBe(used.length);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('a client that keeps asking gets an address while one is free that is not kept for former clients', () => {
    let joined = 0;
    fc.assert(
      fc.property(fc.array(stepOrForgery, { maxLength: 80, size: 'max' }), fc.nat(5), fc.nat(2), (steps, client, identifier) => {
        const world = new World();
        for (const each of steps) world.run(each);
        for (let count = 0; count < 80; count++) world.run({ kind: 'settle', outcome: 'lost' });
        const { server } = world;
        if (server.open.counts(server.nowMs).free === 0) return;
        const address = server.join(client, identifier === 0 ? {} : { identifier: [255, 0, 0, 0, identifier] });
        expect(address).toMatch(/^10[.]0[.]0[.]1[0-5]$/);
        expect(server.open.bindings.ofClient(mac(client))?.address).toBe(ip(address));
        joined += 1;
      }),
      { numRuns: RUNS },
    );
    expect(joined).toBeGreaterThan(RUNS / 2);
  });

  it('every address in use is a valid binding of its client, and among the records', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: 'max' }), (steps) => {
        const world = new World();
        for (const each of steps) {
          world.run(each);
          const { server } = world;
          const restored = new OpenPool(server.served, server.stored, server.nowMs);
          for (const [client, { address, endsAtMs }] of world.believed) {
            if (endsAtMs <= server.nowMs) continue;
            for (const open of [server.open, restored]) {
              const binding = open.bindings.at(ip(address));
              expect(binding).toMatchObject({ macAddress: mac(client) });
              expect(binding !== undefined && isBindingValid(binding, endsAtMs - 1)).toBe(true);
            }
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('restore(records) = table: also of the records that the table itself writes', () => {
    const withoutUnsure = step.filter((each) => !(each.kind === 'settle' && each.outcome === 'unsure') && each.kind !== 'crash');
    fc.assert(
      fc.property(fc.array(withoutUnsure, { maxLength: 120, size: 'max' }), (steps) => {
        const { server } = steps.reduce((world, each) => {
          world.run(each);
          return world;
        }, new World());
        const known = contents(server.open.bindings.records());
        expect(contents(tableOf(server.stored).records())).toEqual(known);
        expect(contents(tableOf([...server.open.bindings.records()]).records())).toEqual(known);
      }),
      { numRuns: RUNS },
    );
  });

  it('a restored pool answers like the one that died: the same addresses are free and leased', () => {
    const withoutUnsure = step.filter((each) => !(each.kind === 'settle' && each.outcome === 'unsure') && each.kind !== 'crash');
    fc.assert(
      fc.property(fc.array(withoutUnsure, { maxLength: 80, size: 'max' }), (steps) => {
        const world = new World();
        for (const each of steps) world.run(each);
        // Everything that was only in memory is lost.
        world.run({ kind: 'pass', seconds: 31 });
        for (let count = 0; count < 200; count++) world.run({ kind: 'settle', outcome: 'lost' });
        const before = world.server.open.counts(world.server.nowMs);
        const offers = () => [7, 8, 9].map((client) => world.server.send('discover', client));
        const offered = offers();
        world.run({ kind: 'crash' });
        expect(world.server.open.counts(world.server.nowMs)).toEqual(before);
        expect(offers()).toEqual(offered);
      }),
      { numRuns: RUNS },
    );
  });

  it('no packet makes it throw, through whatever relay, and the next client gets its address', () => {
    const seeds = (['discover', 'request', 'decline', 'release', 'inform'] as const).flatMap((type) => [
      clientPacket(type, mac(1), {
        requested: '10.0.0.10',
        server: SERVER,
        identifier: [255, 1, 2],
        hostname: 'a',
        circuit: 'port',
      }),
      clientPacket(type, mac(2), { ciaddr: '10.0.0.10', giaddr: '10.0.0.254', circuit: 'port' }),
    ]);
    const change = fc.tuple(fc.oneof(fc.nat(340), fc.integer({ min: 236, max: 290 })), fc.nat(255));
    const packet = fc.tuple(fc.constantFrom(...seeds), fc.array(change, { maxLength: 8 }), fc.integer({ min: 0, max: 400 }));
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 20, size: 'max' }), (packets) => {
        const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.60'] });
        for (const [seed, changes, length] of packets) {
          const bytes = seed.slice(0, Math.max(length, 60));
          for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value;
          const answer = server.receive(bytes);
          if (answer.kind === 'record') server.record(answer.record);
        }
        expect(server.join(50)).toMatch(/^10[.]0[.]0[.][1-6][0-9]$/);
      }),
      { numRuns: RUNS },
    );
  });

  it('a clock that steps in either direction leaves one binding for each address and client, and nothing throws', () => {
    const anyTime = fc.oneof(
      step,
      fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: -5_000, max: 5_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(anyTime, { maxLength: 120, size: 'max' }), (steps) => {
        const world = new World();
        for (const each of steps) world.run(each);
        const bindings = [...world.server.open.bindings.bindings()];
        expect(new Set(bindings.map(({ address }) => address)).size).toBe(bindings.length);
        expect(new Set(bindings.map(({ macAddress }) => macAddress)).size).toBe(bindings.length);
        const { size, valid, quarantined, declared, kept, free } = world.server.open.counts(world.server.nowMs);
        expect(valid + quarantined + declared + kept + free).toBe(size);
      }),
      { numRuns: RUNS },
    );
  });
});

function tableOf(records: readonly BindingRecord[]): BindingTable {
  const table = new BindingTable('net');
  for (const record of records) table.apply(record);
  return table;
}

function contents(records: Iterable<BindingRecord>): BindingRecord[] {
  return [...records].toSorted((one, other) => one.address - other.address);
}
