/** Messages that another machine sends in the name of a client, or to get a client's address. */
import { describe, expect, it } from 'vitest';
import type { PoolDefinition } from '../pool/pool-definition.js';
import { clientPacket, ip, mac, OpenServer, SERVER, shortOutcome } from './open-pool-fixtures.js';

const YEAR = 365 * 24 * 3600;
const VICTIM = 1;
const INTRUDER = 66;

/** The victim has renewed its lease. */
function serverWithVictim(definition: Partial<PoolDefinition> = {}): OpenServer {
  const server = new OpenServer({ leaseTimeSeconds: YEAR, ...definition });
  expect(server.join(VICTIM)).toBe('10.0.0.10');
  server.pass(150);
  expect(renewal(server, VICTIM)).toBe('ack 10.0.0.10');
  return server;
}

const renewal = (server: OpenServer, client: number) => shortOutcome(server.send('request', client, { ciaddr: '10.0.0.10' }));

describe('a RELEASE', () => {
  it.each([
    ['on the link', {}],
    ['behind a relay', { giaddr: '10.0.0.254' }],
  ])('does not end a lease, so a host that is switched off has its address for its whole lease time, %s', (_title, place) => {
    const server = serverWithVictim();
    server.pass(YEAR - 1);
    const forged = { ...place, server: SERVER, ciaddr: '10.0.0.10' };
    expect(server.send('release', VICTIM, forged)).toBe('ignored lease-stays');
    const requested = { ...place, server: SERVER, requested: '10.0.0.10' };
    expect(shortOutcome(server.send('request', INTRUDER, requested))).toBe('nak 0.0.0.0 address-not-available');
    expect(server.join(INTRUDER, place)).toBe('10.0.0.11');
    expect(shortOutcome(server.send('request', VICTIM, { ...place, requested: '10.0.0.10' }))).toBe('ack 10.0.0.10');
  });
});

describe('a lease that a person ends', () => {
  it('does not end a lease that its client has renewed since, and ends no lease twice', () => {
    const server = serverWithVictim();
    const { grantedAtMs } = server.open.bindings.at(ip('10.0.0.10')) ?? { grantedAtMs: 0 };
    server.pass(10);
    expect(renewal(server, VICTIM)).toBe('ack 10.0.0.10');
    expect(server.open.beginRelease(ip('10.0.0.10'), grantedAtMs, server.nowMs)).toBeUndefined();
    expect(server.end(ip('10.0.0.10'))).toBe(true);
    expect(server.end(ip('10.0.0.10'))).toBe(false);
    expect(server.end(ip('10.0.0.11'))).toBe(false);
  });
});

describe('a host that answers the probe of an address', () => {
  it('gets its lease back if it is remembered as the client, and renews it as before, also after a crash', () => {
    const server = serverWithVictim({ dynamic: ['10.0.0.10'] });
    server.end(ip('10.0.0.10'));
    expect(shortOutcome(server.send('discover', INTRUDER))).toBe('offer 10.0.0.10');
    const intruder = server.receive(clientPacket('request', mac(INTRUDER), { server: SERVER, requested: '10.0.0.10' }));
    expect(intruder).toMatchObject({ kind: 'record', event: 'bound' });
    if (intruder.kind === 'record') server.open.notRecorded(intruder.record, server.nowMs);
    expect(server.restore(ip('10.0.0.10'), mac(VICTIM))).toBe(true);
    server.crash();
    expect(server.open.bindings.at(ip('10.0.0.10'))?.endsAtMs).toBe(server.nowMs + YEAR * 1000);
    expect(shortOutcome(server.send('request', INTRUDER, { server: SERVER, requested: '10.0.0.10' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
    expect(renewal(server, VICTIM)).toBe('ack 10.0.0.10');
  });

  it('gets no lease if it is another host, if the lease has not ended, or while the address is being recorded', () => {
    const server = serverWithVictim();
    expect(server.restore(ip('10.0.0.10'), mac(VICTIM))).toBe(false);
    server.end(ip('10.0.0.10'));
    expect(server.restore(ip('10.0.0.10'), mac(INTRUDER))).toBe(false);
    expect(server.restore(ip('10.0.0.11'), mac(VICTIM))).toBe(false);
    server.receive(clientPacket('request', mac(VICTIM), { requested: '10.0.0.10' }));
    expect(server.restore(ip('10.0.0.10'), mac(VICTIM))).toBe(false);
  });

  it('while addresses are scarce, the renewed lease lasts twice as long as the client has had the address', () => {
    const server = new OpenServer({ leaseTimeSeconds: YEAR });
    for (let client = 1; client <= 10; client++) server.join(client);
    server.pass(200);
    server.end(ip('10.0.0.10'));
    server.restore(ip('10.0.0.10'), mac(VICTIM));
    expect(server.open.bindings.at(ip('10.0.0.10'))?.endsAtMs).toBe(server.nowMs + 300_000);
  });
});

it.each([
  ['the hardware address of another host, RFC 2132 §9.14', [1, 2, 0, 0, 0, 0, 1]],
  ['the DUID of another host, RFC 4361', [255, 0, 0, 0, 1, 0, 4, 9, 9]],
])('a client identifier with %s does not make its sender that host', (_title, identifier) => {
  const server = new OpenServer({ leaseTimeSeconds: YEAR });
  const asVictim = { identifier };
  expect(server.join(VICTIM, asVictim)).toBe('10.0.0.10');
  expect(server.send('request', INTRUDER, { requested: '10.0.0.10', ...asVictim })).toBe('ignored unknown-client');
  expect(server.send('release', INTRUDER, { server: SERVER, ciaddr: '10.0.0.10', ...asVictim })).toBe('ignored unknown-client');
  expect(server.join(INTRUDER, asVictim)).toBe('10.0.0.11');
  expect(server.open.bindings.at(ip('10.0.0.10'))).toMatchObject({ macAddress: mac(VICTIM) });
  expect(shortOutcome(server.send('request', VICTIM, { ciaddr: '10.0.0.10', ...asVictim }))).toBe('ack 10.0.0.10');
});

describe('a board that was replaced: its address is bound to the new one', () => {
  const bound = (server: OpenServer) =>
    server.open.declare([{ address: ip('10.0.0.10'), macAddress: mac(9), isLeasedHere: true }], server.nowMs);

  it('gets the address as soon as the lease of the old one has ended', () => {
    const server = serverWithVictim();
    bound(server);
    const holder = server.open.formerHolderOf({ macAddress: mac(9) }, server.nowMs);
    expect(holder).toMatchObject({ address: ip('10.0.0.10'), macAddress: mac(VICTIM) });
    server.end(ip('10.0.0.10'));
    expect(server.open.formerHolderOf({ macAddress: mac(9) }, server.nowMs)).toBeUndefined();
    expect(server.join(9)).toBe('10.0.0.10');
  });

  it('gets another address for five minutes at a time while the old board is there', () => {
    const server = serverWithVictim();
    bound(server);
    expect(server.join(9)).toBe('10.0.0.11');
    expect(server.open.bindings.at(ip('10.0.0.11'))?.endsAtMs).toBe(server.nowMs + 300_000);
    server.pass(3600);
    expect(server.join(9)).toBe('10.0.0.11');
    expect(server.open.bindings.at(ip('10.0.0.11'))?.endsAtMs).toBe(server.nowMs + 300_000);
  });

  it('an address that another host uses is in quarantine, bound or not', () => {
    const server = new OpenServer();
    bound(server);
    const record = server.open.beginQuarantine(ip('10.0.0.10'), server.nowMs + 3_600_000, server.nowMs);
    if (record !== undefined) server.record(record);
    expect(server.join(9)).toBe('10.0.0.11');
  });
});
