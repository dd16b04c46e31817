/** A record that takes long: clients keep asking, and the ACK must not promise the address for longer than what is recorded. */
import { decodeMessage } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { ip, OTHER, setUp, turn, UNKNOWN } from './open-answers-fixtures.js';

it('an address has one user, by the times that the clients were told, although the disk hangs for three minutes', async () => {
  const { clock, disk, sentOctets, open, request, send, server, settle } = setUp({ dynamic: '10.0.0.100' });
  expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
  request(UNKNOWN, '10.0.0.100');
  await turn();
  expect(disk).toHaveLength(1);
  // The disk hangs; the client retransmits the same message, as RFC 2131 §4.1 says, and is told nothing.
  for (let minute = 0; minute < 3; minute++) {
    clock.nowMs += 60_000;
    request(UNKNOWN, '10.0.0.100');
  }
  const requestedAtMs = clock.nowMs;
  await settle();
  const ack = decodeMessage(sentOctets[0] ?? new Uint8Array());
  // The client counts from its last REQUEST (RFC 2131 §4.4.1).
  const mayUseUntilMs = requestedAtMs + 1_000 * (ack.ok ? (ack.message.options.uint32(51) ?? 0) : 0);
  expect(mayUseUntilMs).toBeGreaterThan(requestedAtMs);
  // By the record the lease is over; the client is suspended, or its link is down, so that it did not renew.
  clock.nowMs = (open.bindings.at(ip('10.0.0.100'))?.endsAtMs ?? 0) + 1_000;
  server.expireLeases();
  expect(send(OTHER, 'discover')).toBe('offer 10.0.0.100');
  expect(mayUseUntilMs).toBeLessThanOrEqual(clock.nowMs);
});

// RFC 2131 §4.1: retransmissions 4, 8, 16, 32 and 64 s (each ±1) after one another.
it('a client gets its lease from a server whose store takes 3.2 s for each record', async () => {
  const { clock, disk, request, send, sent } = setUp({ dynamic: '10.0.0.100' });
  expect(send(UNKNOWN, 'discover')).toBe('offer 10.0.0.100');
  const beganAtMs = new Map<(typeof disk)[number], number>();
  for (const waitMs of [4_000, 8_000, 16_000, 32_000, 64_000]) {
    request(UNKNOWN, '10.0.0.100');
    for (const endMs = clock.nowMs + waitMs; clock.nowMs < endMs; clock.nowMs += 100) {
      for (const waiting of disk) if (!beganAtMs.has(waiting)) beganAtMs.set(waiting, clock.nowMs);
      const isFirstDone = disk[0] !== undefined && (beganAtMs.get(disk[0]) ?? 0) + 3_200 <= clock.nowMs;
      if (isFirstDone) disk.shift()?.settle(true);
      await turn();
    }
  }
  expect(sent).toContain('eth1 ack 10.0.0.100');
});
