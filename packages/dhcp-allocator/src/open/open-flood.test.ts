/** Made-up clients cannot starve a pool for long. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MOST_OFFERS } from './offers.js';
import type { Fields } from './open-pool-fixtures.js';
import { ip, OpenServer, SERVER } from './open-pool-fixtures.js';

const REAL = 0;

/** DISCOVERs of this many clients, which send nothing after that. */
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
  it('law: a client that requests what it was offered gets it at its first try, whatever flood comes before, between and after', () => {
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

  it('law: n clients that follow the protocol all have an address after at most n rounds, with a flood between all their messages', () => {
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

  it('writes no records, and uses memory for a bounded number of offers; the next client is offered the lowest address again', () => {
    const server = new OpenServer({ cidr: '10.0.0.0/16', dynamic: ['10.0.1.0-10.0.200.255'] });
    const before = offerOf(server, REAL);
    flood(server, MOST_OFFERS + 100);
    expect(server.stored).toEqual([]);
    // Meanwhile its offer went to others too, which did not request it.
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
  it('occupies the pool for at most five minutes after it ends, also where leases are long', () => {
    const server = new OpenServer({ leaseTimeSeconds: 30 * 24 * 3600 });
    for (let each = 0; each < 50; each++) server.join(++madeUp);
    expect(server.send('discover', REAL)).toBe('ignored pool-exhausted');
    server.pass(300);
    expect(server.join(REAL)).toMatch(/^10\.0\.0\.1\d$/);
    expect(server.open.counts(server.nowMs)).toMatchObject({ valid: 1, free: 9 });
  });

  it('law: whatever it renews, and when, it has little more than half of the pool after twice its duration', () => {
    const step = fc.record({ seconds: fc.oneof(fc.constant(75), fc.integer({ min: 1, max: 400 })), joins: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }), (steps) => {
        const server = new OpenServer({ leaseTimeSeconds: 365 * 24 * 3600 });
        const beganAtMs = server.nowMs;
        const addressOf = new Map<number, string>();
        for (const { seconds, joins } of steps) {
          for (let each = 0; each < joins; each++) addressOf.set(++madeUp, server.join(madeUp));
          server.pass(seconds);
          for (const [client, ciaddr] of addressOf) if (ciaddr.startsWith('10.')) server.send('request', client, { ciaddr });
        }
        server.pass(Math.max(300, (2 * (server.nowMs - beganAtMs)) / 1000));
        const { free, kept } = server.open.counts(server.nowMs);
        expect(free + kept).toBeGreaterThanOrEqual(4);
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

describe('the last addresses of a pool', () => {
  /** Clients 1 to 12 have had addresses and are switched off. */
  function serverOfTwelve(): OpenServer {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.21'] });
    const clients = Array.from({ length: 12 }, (_, each) => each + 1);
    for (const client of clients) server.join(client);
    server.pass(150);
    for (const client of clients) server.send('request', client, { ciaddr: `10.0.0.${9 + client}` });
    server.pass(3600);
    return server;
  }

  it('a quarter of them is kept for clients that had them, whatever made-up clients do', () => {
    const server = serverOfTwelve();
    const joined = Array.from({ length: 50 }, () => server.join(++madeUp));
    expect(joined.filter((address) => address !== 'no offer')).toHaveLength(9);
    expect(server.send('discover', ++madeUp)).toBe('ignored pool-exhausted');
    for (const client of [10, 11, 12]) expect(server.join(client)).toBe(`10.0.0.${9 + client}`);
  });

  it('made-up clients lose theirs first: clients that had renewed their leases keep their addresses', () => {
    const server = serverOfTwelve();
    server.join(++madeUp);
    server.pass(301);
    server.join(++madeUp);
    expect(server.join(2)).toBe('10.0.0.11');
  });

  it.each([
    [299, 9],
    [300, 12],
  ])('are kept for as long again as a lease of the pool lasts: after %i s more, %i are leased to others', (seconds, count) => {
    const server = serverOfTwelve();
    // Their leases ended 3,300 s ago.
    server.pass(seconds);
    const joined = Array.from({ length: 12 }, () => server.join(++madeUp));
    expect(joined.filter((address) => address !== 'no offer')).toHaveLength(count);
  });
});

describe('a port of a relay', () => {
  const at = (circuit: string) => ({ giaddr: '10.0.0.254', circuit });

  it('has at most a quarter of the addresses for clients that have not renewed, once half of them are taken', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.29'] });
    for (let each = 0; each < 50; each++) server.join(++madeUp, at('flooded'));
    // Scarce from the eleventh one on.
    expect(server.open.counts(server.nowMs).valid).toBe(11);
    expect(server.send('discover', REAL, at('flooded'))).toBe('ignored pool-exhausted');
    for (const client of [1, 2, 3, 4]) expect(server.join(client, at('quiet'))).toMatch(/^10\./);
  });

  it('may have any number of clients that renew their leases, and there is no limit if the relay adds nothing', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.19'] });
    const clients = [1, 2, 3, 4, 5, 6, 7, 8];
    const addressOf = new Map<number, string>();
    for (let round = 0; round < 4; round++) {
      for (const client of clients) {
        const ciaddr = addressOf.get(client);
        if (ciaddr === undefined) {
          const address = server.join(client, at('rack'));
          if (address.startsWith('10.')) addressOf.set(client, address);
        } else server.send('request', client, { ...at('rack'), ciaddr });
      }
      server.pass(150);
    }
    expect(addressOf.size).toBe(8);
    expect([9, 10].map((client) => server.join(client, { giaddr: '10.0.0.254' }))).not.toContain('no offer');
  });
});
