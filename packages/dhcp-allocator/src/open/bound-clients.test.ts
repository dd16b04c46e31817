import { describe, expect, it } from 'vitest';
import { ip, mac, OpenServer, SERVER, shortOutcome } from './open-pool-fixtures.js';

describe('an address that is bound to a client, and leased here', () => {
  const bind = (server: OpenServer, address: string, client: number) =>
    server.open.declare([{ address: ip(address), macAddress: mac(client), isLeasedHere: true }], server.nowMs);

  it('is leased to that client before any other address, is recorded like every lease, and no other client gets it', () => {
    const server = new OpenServer();
    bind(server, '10.0.0.15', 9);
    expect(server.join(1)).toBe('10.0.0.10');
    expect(server.join(9)).toBe('10.0.0.15');
    expect(server.stored).toHaveLength(2);
    expect(shortOutcome(server.send('request', 2, { server: SERVER, requested: '10.0.0.15' }))).toBe(
      'nak 0.0.0.0 address-not-available',
    );
  });

  it('may lie outside the dynamic addresses, and is confirmed even if no lease of the client is known', () => {
    const server = new OpenServer();
    bind(server, '10.0.0.77', 9);
    expect(shortOutcome(server.send('request', 9, { requested: '10.0.0.77' }))).toBe('ack 10.0.0.77');
  });

  it('a client with another address moves when it renews its lease', () => {
    const server = new OpenServer();
    expect(server.join(9)).toBe('10.0.0.10');
    bind(server, '10.0.0.15', 9);
    expect(shortOutcome(server.send('request', 9, { ciaddr: '10.0.0.10' }))).toBe('nak 0.0.0.0 address-not-its-own');
    expect(server.join(9)).toBe('10.0.0.15');
    expect(server.join(1)).toBe('10.0.0.10');
  });

  it('while another client has it, the bound client uses another one, and moves when that lease ends', () => {
    const server = new OpenServer();
    expect(server.join(1)).toBe('10.0.0.10');
    bind(server, '10.0.0.10', 9);
    expect(server.join(9)).toBe('10.0.0.11');
    expect(shortOutcome(server.send('request', 9, { ciaddr: '10.0.0.11' }))).toBe('ack 10.0.0.11');
    server.pass(3601);
    expect(server.join(9)).toBe('10.0.0.10');
  });

  it('the firmware and the operating system of a host may send different identifiers', () => {
    const server = new OpenServer();
    bind(server, '10.0.0.15', 9);
    for (const identifier of [
      [0, 1, 2, 3],
      [255, 9, 9, 9],
    ])
      expect(shortOutcome(server.send('discover', 9, { identifier }))).toBe('offer 10.0.0.15');
    expect(shortOutcome(server.send('request', 9, { server: SERVER, requested: '10.0.0.15', identifier: [0, 1, 2, 3] }))).toBe(
      'ack 10.0.0.15',
    );
    expect(shortOutcome(server.send('discover', 9, { identifier: [255, 9, 9, 9] }))).toBe('offer 10.0.0.15');
  });

  it('when it is unbound, its client keeps it without a gap', () => {
    const server = new OpenServer();
    bind(server, '10.0.0.15', 9);
    server.join(9);
    server.open.declare([], server.nowMs);
    expect(shortOutcome(server.send('request', 9, { ciaddr: '10.0.0.15' }))).toBe('ack 10.0.0.15');
    expect(server.join(1)).toBe('10.0.0.10');
  });
});
