/** Wrong clocks, forged messages and records in progress: none of them costs a client its address. */
import { describe, expect, it } from 'vitest';
import type { BindingRecord } from '../binding/binding.js';
import { parseIscLeases } from '../isc-leases/parse-isc-leases.js';
import { toBindingRecords } from '../isc-leases/to-binding-records.js';
import { isProven } from './lease-times.js';
import { OpenPool } from './open-pool.js';
import { clientPacket, ip, mac, OpenServer, SERVER } from './open-pool-fixtures.js';

const [X, Y] = [1, 2];
const relayed = { giaddr: '10.0.0.254' };

/** A client with a lease of an hour. */
function joinAndRenew(server: OpenServer, client: number, fields = {}): string {
  const address = server.join(client, fields);
  server.pass(150);
  expect(server.send('request', client, { ...fields, ciaddr: address })).toMatch(/^ack/);
  return address;
}

describe('the first 30 s after a start', () => {
  it('no message ends a lease: after a restart two packets in the name of X do not make its address free', () => {
    const server = new OpenServer();
    server.pass(60);
    const address = joinAndRenew(server, X, relayed);
    const { endsAtMs = 0 } = server.open.bindings.at(ip(address)) ?? {};
    expect(endsAtMs - server.nowMs).toBe(3_600_000);
    server.crash();
    server.pass(5);
    // Any machine: one packet in the name of X.
    const forged = server.send('request', X, { server: SERVER, requested: '10.0.0.19' });
    expect(forged).toMatch(/^nak/);
    // X still uses `address` for an hour. Another host behind a relay:
    expect(server.join(Y, relayed)).not.toBe(address);
    // And X loses it at its next renewal
    expect(server.send('request', X, { ...relayed, ciaddr: address })).toMatch(/^ack/);
  });
  it('the 30 s are over after 30 s, also where the clock was ahead by ten hours at the start', () => {
    const server = new OpenServer();
    server.nowMs += 36_000_000;
    server.crash();
    server.nowMs -= 36_000_000;
    server.pass(3_600);
    expect(server.send('request', Y, { server: SERVER, requested: '10.0.0.19' })).toMatch(/^nak/);
  });
});

describe('a clock that is behind', () => {
  it('leases last while the host runs with a clock that is behind, until NTP sets it', () => {
    const server = new OpenServer();
    server.nowMs = Date.UTC(2026, 5, 1);
    const address = joinAndRenew(server, X, relayed);
    const before = server.open.bindings.at(ip(address))?.endsAtMs ?? 0;
    const right = server.nowMs;
    // The battery is empty: 1970, as the agent starts; 2 s later noteEnded runs.
    server.nowMs = 10_000;
    server.crash();
    server.pass(2);
    for (const record of server.open.beginOverdueEnds(server.nowMs)) server.record(record);
    // NTP, 20 s later.
    server.nowMs = right + 22_000;
    expect(before).toBeGreaterThan(server.nowMs);
    expect(server.open.bindings.at(ip(address))?.endsAtMs).toBe(before);
    // Nine other hosts boot.
    const others = Array.from({ length: 10 }, (_, each) => server.join(100 + each, relayed));
    expect(others).not.toContain(address);
  });
  it('a quarantine of an hour lasts an hour, although the clock was behind for a moment', () => {
    const server = new OpenServer();
    server.nowMs = Date.UTC(2026, 5, 1);
    const record = server.open.beginQuarantine(ip('10.0.0.10'), server.nowMs + 3_600_000, server.nowMs) as BindingRecord;
    server.record(record);
    const right = server.nowMs;
    server.nowMs = 10_000;
    server.crash();
    for (const one of server.open.beginOverdueEnds(server.nowMs)) server.record(one);
    server.nowMs = right + 22_000;
    expect(server.open.addresses.isQuarantined(ip('10.0.0.10'), server.nowMs)).toBe(true);
  });
});

describe('a clock that is ahead for a moment in a running process', () => {
  const ahead = (server: OpenServer) => {
    server.nowMs += 36_000_000;
    server.open.counts(server.nowMs); // as metrics and the status ask, or any packet
    server.nowMs -= 36_000_000;
  };
  it('rapid commit: no two MAC addresses share an address', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10'], rapidCommit: true });
    const address = joinAndRenew(server, X, relayed);
    ahead(server);
    expect(server.open.bindings.at(ip(address))?.endsAtMs).toBeGreaterThan(server.nowMs);
    expect(server.send('discover', Y, { ...relayed, rapid: true })).not.toMatch(/^ack/);
  });
  it('a client is never offered a leased address, and gets one while one is free', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.13'] });
    const first = server.join(50);
    for (const client of [51, 52, 53]) joinAndRenew(server, client);
    expect(first).toBe('10.0.0.10');
    // The lease of client 50 has ended and was never renewed: its address is free.
    ahead(server);
    server.pass(1);
    const results = Array.from({ length: 4 }, () => server.join(Y));
    expect(results[0]).toBe('10.0.0.10');
  });
});

describe('a lease that a person ended', () => {
  it('an address whose lease a person ended is free for a new host', () => {
    const server = new OpenServer({ leaseTimeSeconds: 604_800 });
    const addresses = Array.from({ length: 10 }, (_, each) => server.join(10 + each));
    // Real hosts renew: after a while all have leases of a whole week.
    for (let round = 0; round < 16; round++) {
      server.pass(Math.min(150 * 2 ** round, 302_400));
      for (const [each, address] of addresses.entries())
        expect(server.send('request', 10 + each, { ciaddr: address })).toMatch(/^ack/);
    }
    expect(server.open.counts(server.nowMs).free).toBe(0);
    // The host of the fourth is gone: vmdhcp-agent release.
    expect(server.end(ip(addresses[3] as string))).toBe(true);
    const got: string[] = [];
    for (let day = 0; day < 9; day++) {
      got.push(
        server
          .send('discover', 200 + day)
          .split(' ')
          .slice(0, 2)
          .join(' '),
      );
      server.pass(86_400);
      for (const [each, address] of addresses.entries()) if (each !== 3) server.send('request', 10 + each, { ciaddr: address });
    }
    expect(got).toEqual(Array(9).fill(`offer ${addresses[3]}`));
  });
});

describe('a lease that was granted in the future', () => {
  it('a lease that is being moved is not corrected: what was acknowledged stays', () => {
    const server = new OpenServer();
    server.nowMs += 36_000_000;
    const a = joinAndRenew(server, X, relayed);
    server.nowMs -= 36_000_000;
    // An annotation binds X to .19; X asks anew.
    server.open.declare([{ address: ip('10.0.0.19'), macAddress: mac(X), isLeasedHere: true }], server.nowMs);
    server.send('discover', X, relayed);
    const answer = server.receive(clientPacket('request', mac(X), { ...relayed, server: SERVER, requested: '10.0.0.19' }));
    if (answer.kind !== 'record') throw new Error('no record');
    // The disk writes; meanwhile the two seconds are over.
    const corrections = server.open.beginOverdueEnds(server.nowMs);
    server.record(answer.record); // the ACK leaves
    for (const record of corrections) server.record(record);
    expect(a).toBe('10.0.0.10');
    expect(server.open.bindings.ofClient(mac(X))?.address).toBe(ip('10.0.0.19'));
    expect(server.open.bindings.at(ip('10.0.0.19'))?.macAddress).toBe(mac(X));
  });
});

describe('a client that had renewed its lease', () => {
  it('after two forged packets, a host that is off still counts as a real client', () => {
    const server = new OpenServer();
    const address = joinAndRenew(server, X);
    server.pass(3_700); // it is off; its lease has ended
    for (let each = 0; each < 6; each++) server.join(100 + each); // scarce
    expect(server.open.addresses.isKnown({ macAddress: mac(X), place: 'link' })).toBe(true);
    expect(server.join(X)).toBe(address); // forged, or the host itself for two minutes
    server.pass(301);
    const binding = server.open.bindings.at(ip(address));
    expect(server.open.addresses.isKnown({ macAddress: mac(X), place: 'link' })).toBe(true);
    expect(binding && isProven(binding, binding.grantedAtMs)).toBe(true);
  });
  it('the kept quarter: addresses of known clients that are off are not leased to made-up ones', () => {
    const server = new OpenServer();
    const kept = [20, 21].map((client) => joinAndRenew(server, client));
    server.pass(3_700);
    let next = 1_000;
    for (let each = 0; each < 8; each++) server.join(next++);
    // All other addresses are leased: the two kept ones stay kept.
    expect(server.join(next++)).toBe('no offer');
    // Two packets each
    for (const client of [20, 21]) server.join(client);
    server.pass(301);
    for (let each = 0; each < 8; each++) server.join(next++);
    const got = [server.join(next++), server.join(next++)];
    for (const address of kept) expect(got).not.toContain(address);
    expect(server.join(20)).toBe(kept[0]);
  });
});

describe('a pool most of whose addresses are free', () => {
  it('addresses are not scarce while most are free, where leased ones are bound by annotation', () => {
    const server = new OpenServer();
    server.open.declare(
      [0, 1, 2].map((each) => ({ address: ip(`10.0.0.${10 + each}`), macAddress: mac(30 + each), isLeasedHere: true })),
      server.nowMs,
    );
    for (let each = 0; each < 3; each++) server.join(30 + each);
    const counts = server.open.counts(server.nowMs);
    expect(counts.free).toBe(7);
    expect(server.open.addresses.isScarce).toBe(false);
  });
  it('addresses are not scarce while most are free and renewals are being recorded', () => {
    const server = new OpenServer();
    const addresses = [1, 2, 3].map((client) => joinAndRenew(server, client));
    for (const [each, address] of addresses.entries())
      server.receive(clientPacket('request', mac(1 + each), { ciaddr: address }));
    expect(server.open.counts(server.nowMs).free).toBe(7);
    expect(server.open.addresses.isScarce).toBe(false);
  });
});

describe('leases of ISC dhcpd', () => {
  it('an imported second address stays in quarantine until its lease ends', () => {
    const now = Date.UTC(2026, 5, 1);
    const lease = (address: string, cltt: string) =>
      `lease ${address} {\n  starts 1 2026/05/01 00:00:00;\n  ends 1 2026/08/01 00:00:00;\n  cltt 1 2026/05/0${cltt} 00:00:00;\n  binding state active;\n  hardware ethernet 02:00:00:00:00:01;\n}\n`;
    const reading = parseIscLeases(lease('10.0.0.10', '1') + lease('10.0.0.11', '2'));
    const imported = toBindingRecords(reading, { poolNameOf: () => 'net', nowMs: now });
    expect(imported.map(({ outcome }) => outcome).sort()).toEqual(['leased', 'quarantined-second-address']);
    const server = new OpenServer();
    server.nowMs = now;
    server.open = new OpenPool(
      server.served,
      imported.flatMap(({ record }) => record ?? []),
      now,
    );
    for (const record of server.open.beginOverdueEnds(now)) server.record(record);
    server.nowMs = Date.UTC(2026, 6, 15); // before August
    expect(server.open.addresses.isQuarantined(ip('10.0.0.10'), server.nowMs)).toBe(true);
  });
});

describe('a lease that goes on because its host was found', () => {
  it('a client that never renewed has a short lease, also where its host answers the probe after its end', () => {
    const server = new OpenServer({ leaseTimeSeconds: 604_800 });
    const address = server.join(X);
    server.pass(301);
    expect(server.restore(ip(address), mac(X))).toBe(true);
    const { endsAtMs = 0, ...binding } = server.open.bindings.at(ip(address)) ?? {};
    expect(endsAtMs - server.nowMs).toBeLessThanOrEqual(300_000);
    expect(binding && server.open.addresses.isKnown({ macAddress: mac(X), place: 'link' })).toBe(false);
  });
});

describe('two replicas, and leases for ever', () => {
  it('two replicas whose clocks differ by 90 s never end a lease before its client does', () => {
    const server = new OpenServer();
    server.nowMs = Date.UTC(2026, 5, 1);
    const address = server.join(X, relayed);
    const believedUntilMs = server.nowMs + 300_000;
    // Replica B leads for some seconds; its clock is 90 s behind.
    server.pass(1);
    server.nowMs -= 90_000;
    server.crash();
    for (const record of server.open.beginOverdueEnds(server.nowMs)) server.record(record);
    server.nowMs += 90_000;
    server.crash();
    server.pass(215);
    expect(server.nowMs).toBeLessThan(believedUntilMs);
    for (let each = 0; each < 9; each++) server.join(100 + each, relayed);
    expect(server.join(Y, relayed)).not.toBe(address);
  });
  it('a released address of a pool with infinite leases gets a new client eventually', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.13'], leaseTimeSeconds: 0xffffffff });
    const addresses = [1, 2, 3, 4].map((client) => server.join(client));
    for (let round = 0; round < 45; round++) {
      server.pass(Math.min(140 * 2 ** round, 86_400_000));
      for (const [each, address] of addresses.entries()) server.send('request', 1 + each, { ciaddr: address });
    }
    server.end(ip('10.0.0.11'));
    server.pass(30 * 86_400);
    expect(server.send('discover', 9)).toMatch(/^offer/);
  });
});

describe('one client, two records under way', () => {
  const begin = (server: OpenServer, type: 'discover' | 'request', client: number, fields: object) => {
    const answer = server.receive(clientPacket(type, mac(client), fields as never));
    return answer.kind === 'record' ? answer : undefined;
  };
  it('rapid commit: a DISCOVER that is sent again while the disk writes is not a second lease; the first ACK (same xid) counts', () => {
    const server = new OpenServer({ rapidCommit: true });
    server.pass(60);
    const first = begin(server, 'discover', X, { ...relayed, rapid: true });
    server.pass(4); // the disk, or the API server, is slow: the client retransmits. RFC 2131 4.1
    const second = begin(server, 'discover', X, { ...relayed, rapid: true });
    for (const one of [first, second]) if (one !== undefined) server.record(one.record);
    const used = first?.record.address; // of the first ACK
    expect(second).toBe(undefined);
    expect(server.open.bindings.ofClient(mac(X))?.address).toBe(used);
    expect(ip(server.join(Y, relayed))).not.toBe(used);
  });
  it('a forged DISCOVER and REQUEST do not move a client whose lease is being written', () => {
    const server = new OpenServer();
    server.pass(60);
    const offered = server.send('discover', X, relayed).split(' ')[1] as string;
    // A flood: all free addresses are offered, and the oldest offers are shared.
    for (let each = 0; each < 12; each++) server.send('discover', 500 + each, relayed);
    const first = begin(server, 'request', X, { ...relayed, server: SERVER, requested: offered });
    expect(first?.record.address).toBe(ip(offered));
    // Any machine, while that is written:
    const other = server.send('discover', X).split(' ')[1] as string;
    const second = begin(server, 'request', X, { server: SERVER, requested: other });
    for (const one of [first, second]) if (one !== undefined) server.record(one.record);
    // X has the ACK of the first.
    expect(server.open.bindings.ofClient(mac(X))?.address).toBe(ip(offered));
    server.pass(31);
    expect(server.join(Y, relayed)).not.toBe(offered);
  });
});
