/** The wall clock is set back by an hour, as NTP does where a host began with a wrong clock: what was probed before counts for 30 s, not for an hour. */
import { expect, it } from 'vitest';
import { SQUATTER, setUp, turn, UNKNOWN } from './open-answers-fixtures.js';

const HOUR_MS = 3_600_000;

it('an address that was probed an hour ago is probed again before a client gets it', async () => {
  const { send, request, settle, sent, hosts, clock, probed } = setUp({ probes: true });
  clock.nowMs = 10 * HOUR_MS;
  send(UNKNOWN, 'discover');
  await turn();
  expect([sent, probed]).toEqual([['eth1 offer 10.0.0.100'], ['10.0.0.100']]);
  // The client goes away. NTP sets the clock back, and half an hour passes.
  clock.nowMs -= HOUR_MS;
  send(UNKNOWN, 'discover');
  await turn();
  clock.nowMs += HOUR_MS / 2;
  // A host with a fixed address joins the network.
  hosts.set('10.0.0.100', SQUATTER);
  sent.length = 0;
  // The client comes back: it must not get the address of the other host.
  const atOnce = send(UNKNOWN, 'discover');
  await turn();
  request(UNKNOWN, '10.0.0.100');
  await settle();
  expect({ atOnce, sent, probes: probed.length }).toEqual({
    atOnce: undefined,
    sent: [],
    probes: expect.toSatisfy((n) => n > 1),
  });
});
