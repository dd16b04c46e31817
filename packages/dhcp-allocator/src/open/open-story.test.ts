import { describe, expect, it } from 'vitest';
import { OptionCode } from '../wire/layout.js';
import {
  clientPacket,
  decoded,
  type Fields,
  ip,
  mac,
  OpenServer,
  outcomeOf,
  SERVER,
  servedPool,
  shortOutcome,
} from './open-pool-fixtures.js';

describe('a story of an open pool', () => {
  it('addresses are sticky; an address is reused only when all have been leased, the oldest ended lease first', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.13'], leaseTimeSeconds: 200 });
    expect([1, 2, 3].map((client) => server.join(client))).toEqual(['10.0.0.10', '10.0.0.11', '10.0.0.12']);
    server.end(ip('10.0.0.11'));
    server.pass(10);
    server.end(ip('10.0.0.10'));
    server.pass(1000);
    // All have ended: .11 first, then .10, then .12.
    expect(server.join(4)).toBe('10.0.0.13');
    expect(server.join(5)).toBe('10.0.0.11');
    expect(server.join(6)).toBe('10.0.0.10');
    expect(server.join(3)).toBe('10.0.0.12');
    expect(server.send('discover', 7)).toBe('ignored pool-exhausted');
    // Client 2 lost its address to client 5, and is unknown now.
    expect(server.send('request', 2, { requested: '10.0.0.11' })).toBe('ignored unknown-client');
    server.pass(201);
    // All ended together: the lowest.
    expect(server.join(7)).toBe('10.0.0.10');
  });

  it('an offer is exclusive for thirty seconds, and costs nothing when the server dies', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.11'] });
    expect(shortOutcome(server.send('discover', 1))).toBe('offer 10.0.0.10');
    expect(shortOutcome(server.send('discover', 2))).toBe('offer 10.0.0.11');
    expect(server.stored).toEqual([]);
    server.crash();
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.11' }))).toBe('ack 10.0.0.11');
    expect(shortOutcome(server.send('discover', 3))).toBe('offer 10.0.0.10');
    server.pass(31);
    expect(shortOutcome(server.send('discover', 1))).toBe('offer 10.0.0.10');
    expect(shortOutcome(server.send('request', 3, { server: SERVER, requested: '10.0.0.10' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
    expect(shortOutcome(server.send('request', 1, { server: SERVER, requested: '10.0.0.10' }))).toBe('ack 10.0.0.10');
  });

  it('a client without a lease that requests an address it was not offered is refused, except for an unused address just after a crash', () => {
    const request = (client: number, requested: string) =>
      shortOutcome(server.send('request', client, { server: SERVER, requested }));
    const server = new OpenServer();
    server.join(1);
    server.pass(301);
    for (const requested of ['10.0.0.10', '10.0.0.11']) expect(request(2, requested)).toBe('nak 0.0.0.0 address-not-available');
    server.crash();
    expect(request(2, '10.0.0.10')).toBe('nak 0.0.0.0 address-not-available');
    expect(request(2, '10.0.0.11')).toBe('ack 10.0.0.11');
    server.pass(30);
    expect(request(3, '10.0.0.12')).toBe('nak 0.0.0.0 address-not-available');
    expect(request(1, '10.0.0.10')).toBe('ack 10.0.0.10');
  });

  it('a client that returns is offered its last address even if another client was offered it; that one is refused', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.11'] });
    for (const client of [1, 9]) server.join(client);
    server.end(ip('10.0.0.10'));
    expect([2, 1].map((client) => shortOutcome(server.send('discover', client)))).toEqual(['offer 10.0.0.10', 'offer 10.0.0.10']);
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.10' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
    server.send('request', 2, { server: '10.0.0.2', requested: '10.0.0.10' });
    server.end(ip('10.0.0.11'));
    expect(shortOutcome(server.send('discover', 3))).toBe('offer 10.0.0.11');
    expect(shortOutcome(server.send('request', 1, { server: SERVER, requested: '10.0.0.10' }))).toBe('ack 10.0.0.10');
  });

  it('an address that cannot be recorded is not acknowledged; the client gets it when it asks again', () => {
    const server = new OpenServer();
    server.send('discover', 1);
    server.canRecord = false;
    expect(server.send('request', 1, { server: SERVER, requested: '10.0.0.10' })).toBe('ignored not-recorded');
    expect(server.open.bindings.size).toBe(0);
    server.canRecord = true;
    expect(shortOutcome(server.send('discover', 2))).toBe('offer 10.0.0.11');
    expect(shortOutcome(server.send('request', 1, { server: SERVER, requested: '10.0.0.10' }))).toBe('ack 10.0.0.10');
  });

  it('while a binding is being recorded, no other client gets its address, and repetitions are not recorded again', () => {
    const server = new OpenServer();
    const request = (client: number) => clientPacket('request', mac(client), { server: SERVER, requested: '10.0.0.10' });
    server.send('discover', 1);
    const first = server.receive(request(1));
    if (first.kind !== 'record') throw new Error(first.kind);
    expect(outcomeOf(server.receive(request(1)))).toBe('ignored being-recorded');
    expect(shortOutcome(outcomeOf(server.receive(request(2))))).toBe('nak 0.0.0.0 address-not-available');
    expect(shortOutcome(server.send('discover', 2))).toBe('offer 10.0.0.11');
    server.pass(31);
    expect(shortOutcome(outcomeOf(server.receive(request(2))))).toBe('nak 0.0.0.0 address-not-available');
    server.record(first.record);
    expect(server.open.bindings.ofClient(mac(1))?.address).toBe(ip('10.0.0.10'));
    expect(shortOutcome(outcomeOf(server.receive(request(1))))).toBe('ack 10.0.0.10');
  });

  it('a record names what the client did, and is kept when the memory of the packet is used again', () => {
    const server = new OpenServer();
    const event = (fields: Fields) => {
      const packet = clientPacket('request', mac(1), fields);
      const answer = server.receive(packet);
      packet.fill(0);
      if (answer.kind !== 'record') return outcomeOf(answer);
      server.record(answer.record);
      return `${answer.event} ${answer.client.macAddress} ${answer.client.message.xid}`;
    };
    const selecting = { server: SERVER, requested: '10.0.0.10' };
    expect(event(selecting)).toBe(`bound ${mac(1)} 7`);
    expect(event({ ciaddr: '10.0.0.10' })).toBe(`renewed ${mac(1)} 7`);
    expect(server.end(ip('10.0.0.10'))).toBe(true);
    expect(server.open.takeEnded(server.nowMs)).toEqual([]);
    expect(event({ requested: '10.0.0.10' })).toBe(`bound ${mac(1)} 7`);
    server.pass(3600);
    expect(server.open.takeEnded(server.nowMs)).toMatchObject([{ macAddress: mac(1), address: ip('10.0.0.10') }]);
    expect(server.open.takeEnded(server.nowMs)).toEqual([]);
    expect(event({ ciaddr: '10.0.0.10' })).toBe(`bound ${mac(1)} 7`);
  });

  it('a lease can be renewed after a crash, and ends when the client is silent', () => {
    const server = new OpenServer();
    server.join(1);
    server.pass(150);
    server.crash();
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('ack 10.0.0.10');
    server.pass(3599);
    expect(server.open.counts(server.nowMs)).toMatchObject({ valid: 1, free: 9 });
    server.pass(1);
    expect(server.open.counts(server.nowMs)).toMatchObject({ valid: 0, kept: 1, free: 9 });
  });

  it('§4.3.3 no client gets a declined address, once confirmed, until its quarantine ends; at most a quarter is in quarantine', () => {
    const server = new OpenServer();
    server.join(1);
    const quarantine = (address: string) => server.open.beginQuarantine(ip(address), server.nowMs + 3_600_000, server.nowMs);
    const record = quarantine('10.0.0.10');
    if (record === undefined) throw new Error('no record');
    expect(quarantine('10.0.0.10')).toBeUndefined();
    server.record(record);
    expect(server.join(1)).toBe('10.0.0.11');
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.10' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
    server.record(quarantine('10.0.0.19') ?? record);
    expect(server.open.counts(server.nowMs)).toEqual({ size: 10, valid: 1, quarantined: 2, declared: 0, kept: 0, free: 7 });
    expect(quarantine('10.0.0.12')).toBeUndefined();
    expect(quarantine('10.0.0.99')).toBeUndefined();
    server.crash();
    expect(server.open.counts(server.nowMs).quarantined).toBe(2);
    server.pass(3600);
    expect(server.join(2)).toBe('10.0.0.10');
  });

  it('when the ranges change, clients keep their addresses as long as they renew, and records in progress stay', () => {
    const server = new OpenServer();
    server.join(1);
    const record = server.open.beginQuarantine(ip('10.0.0.11'), server.nowMs + 3_600_000, server.nowMs);
    if (record !== undefined) server.record(record);
    server.served = servedPool({ dynamic: ['10.0.0.30-10.0.0.31'] });
    server.open.setPool(server.served, server.nowMs);
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('ack 10.0.0.10');
    expect(server.join(2)).toBe('10.0.0.30');
    expect(server.open.counts(server.nowMs)).toEqual({ size: 2, valid: 1, quarantined: 0, declared: 0, kept: 0, free: 1 });
    server.pass(3601);
    expect(server.open.takeEnded(server.nowMs).map(({ address }) => address)).toEqual([ip('10.0.0.30'), ip('10.0.0.10')]);
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('nak 0.0.0.0 address-not-available');
    expect(server.join(1)).toBe('10.0.0.31');
  });
});

describe('the time of a lease', () => {
  const seconds = (server: OpenServer, client: number, fields: Fields = {}): number | undefined => {
    const answer = server.receive(clientPacket('discover', mac(client), fields));
    return answer.kind === 'reply' ? decoded(answer.bytes).options.uint32(OptionCode.leaseTime) : undefined;
  };

  it('is short at first; after a renewal in time it is that of the pool, also after the lease has ended', () => {
    const server = new OpenServer();
    expect(seconds(server, 1)).toBe(300);
    server.join(1);
    const endsIn = () => ((server.open.bindings.at(ip('10.0.0.10'))?.endsAtMs ?? 0) - server.nowMs) / 1000;
    expect(endsIn()).toBe(300);
    server.pass(74);
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    expect(endsIn()).toBe(300);
    server.pass(1);
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    expect(endsIn()).toBe(3600);
    server.pass(3600);
    expect(seconds(server, 1)).toBe(3600);
  });

  it('while less than half of the addresses are free, a renewed lease lasts at most twice as long as the client has had the address', () => {
    const server = new OpenServer();
    for (let client = 0; client < 6; client++) server.join(client);
    server.send('discover', 6);
    const request = clientPacket('request', mac(6), { server: SERVER, requested: '10.0.0.16' });
    const answer = server.receive(request);
    if (answer.kind !== 'record' || answer.reply === undefined) throw new Error(answer.kind);
    const { options } = decoded(answer.reply.bytes);
    expect([OptionCode.leaseTime, OptionCode.renewalTime, OptionCode.rebindingTime].map((code) => options.uint32(code))).toEqual([
      300, 150, 262,
    ]);
    server.record(answer.record);
    // Asking again at once proves nothing.
    const renewed = () => {
      for (let client = 0; client < 6; client++) server.send('request', client, { ciaddr: `10.0.0.${10 + client}` });
      server.send('request', 6, { ciaddr: '10.0.0.16' });
      return ((server.open.bindings.at(ip('10.0.0.16'))?.endsAtMs ?? 0) - server.nowMs) / 1000;
    };
    expect(renewed()).toBe(300);
    server.pass(150);
    expect(renewed()).toBe(300);
    server.pass(150);
    expect(renewed()).toBe(600);
    server.pass(299);
    expect(renewed()).toBe(600);
    server.pass(1);
    expect(renewed()).toBe(1200);
    server.pass(1200);
    expect(renewed(), 'the lease had ended: it begins anew').toBe(300);
    for (let hour = 0; hour < 24; hour++) {
      server.pass(150);
      renewed();
    }
    expect(renewed()).toBe(3600);
  });

  it('may be infinite', () => {
    const server = new OpenServer({ leaseTimeSeconds: 0xffffffff });
    server.join(1);
    server.pass(150);
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    expect(server.open.bindings.at(ip('10.0.0.10'))?.endsAtMs).toBe(Number.POSITIVE_INFINITY);
  });

  it('the longer lease is recorded when a shorter one is acknowledged: the client may never hear of it', () => {
    const server = new OpenServer();
    server.join(1);
    server.pass(150);
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    const endsAtMs = server.nowMs + 3_600_000;
    for (let client = 2; client < 8; client++) server.join(client);
    expect(seconds(server, 1)).toBe(300);
    server.send('request', 1, { ciaddr: '10.0.0.10' });
    expect(server.open.bindings.at(ip('10.0.0.10'))?.endsAtMs).toBe(endsAtMs);
  });
});
