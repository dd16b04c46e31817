/** A pool cannot be starved for long by made-up clients. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_OFFERS } from './offers.js';
import type { Fields } from './open-pool-fixtures.js';
import { ip, OpenServer, SERVER } from './open-pool-fixtures.js';

const REAL = 0;

/** DISCOVERs of so many clients that ask for nothing after that. */
function flood(server: OpenServer, count: number, fields: Fields = {}): void {
  for (let each = 0; each < count; each++) {
    server.send('discover', ++madeUp, fields);
    server.nowMs++;
  }
}
let madeUp = 1_000;

function offerOf(server: OpenServer, client: number, fields: Fields = {}): string {
  const [type, address = ''] = server.send('discover', client, fields).split(' ');
  return type === 'offer' ? address : 'none';
}

describe('a flood of DISCOVERs', () => {
  it('law: a client that requests what it is offered has it at its first try, whatever flood there is before, between and after', () => {
    const some = fc.nat(120);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), some, some, some, (size, before, between, others) => {
        const server = new OpenServer({ dynamic: [`10.0.0.10-10.0.0.${9 + size}`] });
        flood(server, before);
        const offered = offerOf(server, REAL);
        flood(server, between);
        expect(server.send('request', REAL, { server: SERVER, requested: offered })).toMatch(`ack ${offered} `);
        flood(server, others);
        expect(server.send('request', REAL, { ciaddr: offered })).toMatch(`ack ${offered} `);
      }),
      { numRuns: 25 },
    );
  });

  it('law: many clients that follow the protocol each have an address after as many rounds at most, with a flood between all their messages', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(20), (clients, between) => {
        const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.17'] });
        const joined = new Set<number>();
        flood(server, 100);
        for (let round = 0; round < clients; round++) {
          const offers = Array.from({ length: clients }, (_, client) => {
            flood(server, between);
            return joined.has(client) ? 'none' : offerOf(server, client);
          });
          for (const [client, requested] of offers.entries()) {
            if (joined.has(client)) continue;
            if (server.send('request', client, { server: SERVER, requested }).startsWith('ack')) joined.add(client);
          }
        }
        expect(joined.size).toBe(clients);
      }),
      { numRuns: 15 },
    );
  });

  it('costs nothing durable, and memory for so many offers at most; the next client is offered the lowest address again', () => {
    const server = new OpenServer({ cidr: '10.0.0.0/16', dynamic: ['10.0.1.0-10.0.200.255'] });
    const before = offerOf(server, REAL);
    flood(server, MOST_OFFERS + 100);
    expect(server.stored).toEqual([]);
    // What it was offered was offered to others meanwhile, who did not request it.
    expect(server.send('request', REAL, { server: SERVER, requested: before })).toMatch(`ack ${before} `);
    expect(ip(offerOf(server, 1)) - ip('10.0.1.0')).toBeLessThanOrEqual(MOST_OFFERS);
    server.pass(31);
    expect(offerOf(server, 2)).toBe('10.0.1.1');
  });

  it('at one port of a relay leaves the offers at another alone', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.13'] });
    const relayed = (circuit: string) => ({ giaddr: '10.0.0.254', circuit });
    flood(server, 50, relayed('flooded'));
    const offered = offerOf(server, REAL, relayed('quiet'));
    flood(server, 50, relayed('flooded'));
    expect(offerOf(server, REAL, relayed('quiet'))).toBe(offered);
    expect(server.send('request', REAL, { server: SERVER, requested: offered })).toMatch(`ack ${offered} `);
  });
});

describe('a flood of DISCOVERs and REQUESTs', () => {
  it('has the last half of the pool for five minutes at most after it ends, also where leases are long', () => {
    const server = new OpenServer({ leaseTimeSeconds: 30 * 24 * 3600 });
    for (let each = 0; each < 50; each++) server.join(++madeUp);
    expect(server.send('discover', REAL)).toBe('ignored pool-exhausted');
    server.pass(300);
    expect(server.join(REAL)).toMatch(/^10\.0\.0\.1\d$/);
    expect(server.open.counts(server.nowMs)).toMatchObject({ valid: 7, free: 3 });
  });

  it('law: whatever it renews, and when, it has little more than half of the pool after twice the time that it lasted', () => {
    const step = fc.record({ seconds: fc.oneof(fc.constant(75), fc.integer({ min: 1, max: 400 })), joins: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => {
        const server = new OpenServer({ leaseTimeSeconds: 365 * 24 * 3600 });
        const beganAtMs = server.nowMs;
        const addressOf = new Map<number, string>();
        for (const { seconds, joins } of steps) {
          for (let each = 0; each < joins; each++) addressOf.set(++madeUp, server.join(madeUp));
          server.pass(seconds);
          for (const [client, ciaddr] of addressOf) if (ciaddr.startsWith('10.')) server.send('request', client, { ciaddr });
        }
        server.pass(Math.max(300, (2 * (server.nowMs - beganAtMs)) / 1000));
        expect(server.open.counts(server.nowMs).free).toBeGreaterThanOrEqual(4);
        expect(server.join(REAL)).toMatch(/^10\./);
      }),
      { numRuns: 100 },
    );
  });

  it('takes nothing from clients that have a lease', () => {
    const server = new OpenServer();
    expect(server.join(REAL)).toBe('10.0.0.10');
    for (let each = 0; each < 50; each++) server.join(++madeUp);
    expect(server.send('request', REAL, { ciaddr: '10.0.0.10' })).toMatch('ack 10.0.0.10');
  });
});
