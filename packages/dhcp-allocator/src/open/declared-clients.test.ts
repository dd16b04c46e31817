import { describe, expect, it } from 'vitest';
import { clientPacket, ip, mac, OpenServer, SERVER, shortOutcome } from './open-pool-fixtures.js';

describe('declared clients in an open pool', () => {
  const declare = (server: OpenServer, address: string, client?: number) =>
    server.open.declare([{ address: ip(address), ...(client !== undefined && { macAddress: mac(client) }) }], server.nowMs);

  it('no unknown client gets a declared address; the reservations of the pool are declared too', () => {
    const server = new OpenServer({ reservations: [{ macAddress: mac(9), address: '10.0.0.11' }] });
    declare(server, '10.0.0.10');
    expect(server.join(1)).toBe('10.0.0.12');
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.10' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
    expect(server.open.counts(server.nowMs)).toEqual({ size: 9, valid: 1, quarantined: 0, declared: 1, kept: 0, free: 7 });
    server.open.declare([], server.nowMs);
    expect(server.join(2)).toBe('10.0.0.10');
  });

  it('a declared address that an unknown client has must wait until that client moves, at its next renewal', () => {
    const server = new OpenServer();
    server.join(1);
    declare(server, '10.0.0.10', 9);
    const waiting = () => server.open.waitingDeclarations(server.nowMs).map(({ binding }) => binding.macAddress);
    expect(waiting()).toEqual([mac(1)]);
    // The declared client does not have it yet.
    const endsAtMs = server.nowMs + 1000;
    expect(server.open.adoptionOf({ macAddress: mac(9), address: ip('10.0.0.10'), endsAtMs }, server.nowMs)).toBeUndefined();
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('nak 0.0.0.0 address-not-available');
    expect(waiting()).toEqual([mac(1)]);
    expect(server.join(1)).toBe('10.0.0.11');
    expect(waiting()).toEqual([]);
  });

  it('an address is no longer offered once it is declared', () => {
    const server = new OpenServer({ dynamic: ['10.0.0.10-10.0.0.11'] });
    expect([1, 2].map((client) => shortOutcome(server.send('discover', client)))).toEqual(['offer 10.0.0.10', 'offer 10.0.0.11']);
    declare(server, '10.0.0.10');
    expect(shortOutcome(server.send('discover', 1))).toBe('offer 10.0.0.11');
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.11' }))).toBe('ack 10.0.0.11');
    expect(server.send('discover', 1)).toBe('ignored pool-exhausted');
  });

  it('a declared address whose binding is being recorded must wait too', () => {
    const server = new OpenServer();
    server.send('discover', 1);
    const answer = server.receive(clientPacket('request', mac(1), { server: SERVER, requested: '10.0.0.10' }));
    declare(server, '10.0.0.10', 9);
    expect(server.open.waitingDeclarations(server.nowMs)).toHaveLength(1);
    if (answer.kind === 'record') server.open.notRecorded(answer.record, server.nowMs);
    expect(server.open.waitingDeclarations(server.nowMs)).toEqual([]);
  });

  it('an address that is declared without a MAC address stays with the client that has it, and with no other', () => {
    const server = new OpenServer();
    server.join(1);
    declare(server, '10.0.0.10');
    expect(server.open.waitingDeclarations(server.nowMs)).toEqual([]);
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('ack 10.0.0.10');
    server.pass(3601);
    expect(server.join(1)).toBe('10.0.0.11');
  });

  it('a client that is bound for good and unbound again keeps its address, without a gap', () => {
    const server = new OpenServer();
    server.join(1);
    declare(server, '10.0.0.10', 1);
    expect(server.open.waitingDeclarations(server.nowMs)).toEqual([]);
    server.declared.replacePool('net', [{ macAddress: mac(1), address: ip('10.0.0.10') }]);
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('ack 10.0.0.10');
    // Declared clients need no record.
    expect(server.stored).toHaveLength(1);
    server.pass(5000);
    const lease = { macAddress: mac(1), address: ip('10.0.0.10'), endsAtMs: server.nowMs + 1000 };
    const record = server.open.adoptionOf(lease, server.nowMs);
    if (record === undefined) throw new Error('no record');
    server.record(record);
    server.open.declare([], server.nowMs);
    server.declared.replacePool('net', []);
    expect(server.join(2)).toBe('10.0.0.11');
    expect(shortOutcome(server.send('request', 1, { ciaddr: '10.0.0.10' }))).toBe('ack 10.0.0.10');
    expect(server.open.adoptionOf({ ...lease, address: ip(SERVER) }, server.nowMs)).toBeUndefined();
  });
});
