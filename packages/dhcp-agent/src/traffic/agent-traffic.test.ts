import { macAddressBytes } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { AgentTraffic, type NotedPacket } from './agent-traffic.js';
import type { RoomSizes, Standing } from './client-slots.js';
import type { Place } from './place.js';

const macOf = (number: number): string =>
  `02:00:00:${[16, 8, 0].map((shift) => ((number >> shift) & 0xff).toString(16).padStart(2, '0')).join(':')}`;

const SMALL: RoomSizes = { declared: 5, leased: 3, unknown: 2 };

function start(sizes?: RoomSizes) {
  const clock = { nowMs: 1_700_000_000_000 };
  const traffic = new AgentTraffic({ nowMs: () => clock.nowMs, random: () => 0.5, ...(sizes && { sizes }) });
  const place = traffic.placeOf('eth1', 'default/net-48');
  const note = (client: number, fields: Partial<NotedPacket> = {}, at: Place = place) => {
    clock.nowMs += 1;
    traffic.endBurst();
    const octets = macAddressBytes(macOf(client));
    traffic.note({ place: at, octets, macOffset: 0, standing: 'unknown', received: 'discover', from: 0, ...fields });
  };
  const clientOf = (client: number) => [...traffic.clients({ mac: macOf(client) })];
  return { traffic, clock, place, note, clientOf };
}

/** The answer to a declared client, as the fast path notes it. */
function grant(traffic: AgentTraffic, place: Place, kind: 'offer' | 'ack'): void {
  const lease = { poolName: place.poolName, macAddress: macOf(1), address: 1 };
  if (traffic.countGranted(place, kind)) traffic.noteGranted(place, macAddressBytes(macOf(1)), kind, lease, 0);
}

describe('the notes on a client', () => {
  it('counts of messages, answers and reasons, and the last packets with their times', () => {
    const { traffic, note, clientOf } = start();
    note(1, { reason: 'unknown-client' });
    note(1, { standing: 'declared', answer: 'offer', address: 0xc0a8300a });
    note(1, { standing: 'declared', received: 'request', answer: 'ack', address: 0xc0a8300a });
    note(1, { standing: 'declared', received: 'request', answer: 'nak', reason: 'address-not-its-own', from: 0xc0a830ff });
    note(1, { standing: 'declared', received: 'release', from: 0xc0a8300a });
    const [atMs, from] = [1_700_000_000_001, '0.0.0.0'];
    expect(clientOf(1)).toEqual([
      {
        mac: '02:00:00:00:00:01',
        pool: 'default/net-48',
        interface: 'eth1',
        standing: 'declared',
        messages: { DISCOVER: 2, REQUEST: 2, RELEASE: 1 },
        answers: { OFFER: 1, ACK: 1, NAK: 1 },
        unanswered: { 'unknown-client': 1 },
        lastAtMs: atMs + 4,
        last: [
          { atMs, received: 'DISCOVER', from, answer: null, reason: 'unknown-client' },
          { atMs: atMs + 1, received: 'DISCOVER', from, answer: 'OFFER 192.168.48.10', reason: null },
          { atMs: atMs + 2, received: 'REQUEST', from, answer: 'ACK 192.168.48.10', reason: null },
          { atMs: atMs + 3, received: 'REQUEST', from: '192.168.48.255', answer: 'NAK', reason: 'address-not-its-own' },
          { atMs: atMs + 4, received: 'RELEASE', from: '192.168.48.10', answer: null, reason: null },
        ],
      },
    ]);
    const { mac: _, standing: __, last: ___, ...counts } = clientOf(1)[0] as NonNullable<ReturnType<typeof clientOf>[0]>;
    expect(traffic.pools()).toEqual([counts]);
  });

  it('the last 8 packets of many, the oldest first', () => {
    const { note, clientOf } = start();
    for (let address = 1; address <= 21; address++) note(1, { answer: 'offer', address });
    expect(clientOf(1)[0]?.last.map(({ answer }) => answer)).toEqual(
      [14, 15, 16, 17, 18, 19, 20, 21].map((last) => `OFFER 0.0.0.${last}`),
    );
    expect(clientOf(1)[0]?.messages).toEqual({ DISCOVER: 21 });
  });

  it('a later answer is not a further message', () => {
    const { note, clientOf } = start();
    note(1, { reason: 'address-being-probed' });
    note(1, { answer: 'offer', address: 1, isLater: true });
    expect(clientOf(1)[0]).toMatchObject({
      messages: { DISCOVER: 1 },
      answers: { OFFER: 1 },
      unanswered: { 'address-being-probed': 1 },
    });
  });

  it('a MAC address in two pools has separate notes; a filter leaves others out', () => {
    const { traffic, note } = start();
    const other = traffic.placeOf('eth2', 'default/net-49');
    note(1);
    note(1, { received: 'inform', answer: 'inform', address: 7 }, other);
    note(2, {}, other);
    const of = (filter: Parameters<AgentTraffic['clients']>[0]) =>
      [...traffic.clients(filter)].map(({ mac, interface: name }) => `${mac} ${name}`);
    expect(of({ mac: macOf(1) })).toEqual(['02:00:00:00:00:01 eth1', '02:00:00:00:00:01 eth2']);
    expect(of({ pool: 'default/net-49' })).toEqual(['02:00:00:00:00:01 eth2', '02:00:00:00:00:02 eth2']);
    expect(of({ pool: 'default/net-50' })).toEqual([]);
  });

  it('a packet that no client sends is counted for its pool, and for a client if it has the address of one', () => {
    const { traffic, note } = start();
    const octets = encodeClientPacket({ type: 'discover', macAddress: macOf(9), xid: 1, options: [] });
    const [unreadable, ofServer, ofGroup] = [octets.slice(0, 241), octets.slice(), octets.slice()];
    ofServer[0] = 2;
    ofGroup[28] = 1;
    const dropped = { macOffset: 28, received: undefined };
    note(0, { ...dropped, octets, reason: 'no-pool-here' });
    note(0, { ...dropped, octets: unreadable, reason: 'option-truncated' });
    for (const without of [ofServer, ofGroup, octets.slice(0, 30)])
      note(0, { ...dropped, octets: without, reason: 'not-a-request' });
    expect([...traffic.clients()].map(({ mac, messages, unanswered }) => ({ mac, messages, unanswered }))).toEqual([
      { mac: macOf(9), messages: { DISCOVER: 1, UNREADABLE: 1 }, unanswered: { 'no-pool-here': 1, 'option-truncated': 1 } },
    ]);
    expect(traffic.pools()[0]?.unanswered).toEqual({ 'no-pool-here': 1, 'option-truncated': 1, 'not-a-request': 3 });
  });

  it('the time is read once for each burst', () => {
    const { traffic, clock, place } = start();
    let reads = 0;
    const counted = new AgentTraffic({ nowMs: () => clock.nowMs + reads++, random: () => 0 });
    const before = reads;
    for (const kind of ['offer', 'ack', 'ack'] as const) grant(counted, place, kind);
    expect(reads).toBe(before + 1);
    counted.endBurst();
    grant(counted, place, 'ack');
    expect(reads).toBe(before + 2);
    expect([...traffic.clients()]).toEqual([]);
  });
});

describe('the bound', () => {
  const STANDINGS: readonly Standing[] = ['declared', 'leased', 'unknown'];
  /** Clients 0 to 5 change between declared and unknown; clients from 100 are a flood. */
  const packet = fc.record({
    client: fc.oneof(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 100, max: 100_000 })),
    standing: fc.constantFrom(...STANDINGS),
  });

  it('law: no room exceeds its size, and a client is evicted only by one of the same or a higher standing', () => {
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 120, size: 'max' }), (packets) => {
        const { traffic, note } = start(SMALL);
        for (const { client, standing } of packets) {
          const before = new Map([...traffic.clients()].map((view) => [view.mac, view]));
          note(client, { standing });
          const after = new Map([...traffic.clients()].map((view) => [view.mac, view]));
          for (const one of STANDINGS)
            expect([...after.values()].filter((view) => view.standing === one).length).toBeLessThanOrEqual(SMALL[one]);
          const gone = [...before.values()].filter(({ mac }) => !after.has(mac));
          expect(gone.length).toBeLessThanOrEqual(1);
          const taken = after.get(macOf(client))?.standing as Standing;
          for (const { standing: lost } of gone) expect(lost).toBe(taken);
          // The notes on the client move with it, and those on all others stay.
          const messages = (before.get(macOf(client))?.messages['DISCOVER'] ?? 0) + 1;
          expect(after.get(macOf(client))?.messages).toEqual({ DISCOVER: messages });
          for (const [mac, view] of after) if (mac !== macOf(client)) expect(view).toEqual(before.get(mac));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('law: while there is room, everything is counted', () => {
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 300, size: 'max' }), (packets) => {
        const { traffic, note } = start({ declared: 400, leased: 400, unknown: 400 });
        const sent = new Map<string, number>();
        for (const { client, standing } of packets) {
          note(client, { standing });
          sent.set(macOf(client), (sent.get(macOf(client)) ?? 0) + 1);
        }
        const counted = [...traffic.clients()].map(({ mac, messages }) => [mac, messages['DISCOVER']] as const);
        expect(new Map(counted)).toEqual(sent);
        expect(traffic.replaced()).toEqual({ declared: 0, leased: 0, unknown: 0 });
      }),
      { numRuns: 20 },
    );
  });

  it('limits packets per second: a flood is counted for its pool, and does not affect declared clients', () => {
    const { traffic, place, clock } = start();
    const flood = { place, macOffset: 0, received: 'discover', reason: 'unknown-client', from: 0 } as const;
    for (let client = 0; client < 20_000; client++)
      traffic.note({ ...flood, standing: 'unknown', octets: macAddressBytes(macOf(client)) });
    for (let packet = 0; packet < 40_000; packet++) grant(traffic, place, 'offer');
    traffic.endBurst();
    expect(traffic.notNoted).toBe(20_000 - 4_000 + 40_000 - 8_000);
    expect(traffic.pools()).toMatchObject([{ messages: { DISCOVER: 60_000 }, answers: { OFFER: 40_000 } }]);
    const shown = () => [...traffic.clients({ mac: macOf(1) })].at(-1)?.answers;
    const offersBefore = shown()?.['OFFER'];
    clock.nowMs += 1_000;
    grant(traffic, place, 'offer');
    expect([offersBefore, shown()?.['OFFER']]).toEqual([8_000, 8_001]);
    clock.nowMs -= 1_000_000;
    traffic.endBurst();
    grant(traffic, place, 'offer');
    expect(shown()?.['OFFER']).toBe(8_002);
  });

  it('a flood of 200,000 made-up MAC addresses evicts neither declared clients nor clients with leases, and shows its newest', () => {
    const { traffic, note, clientOf } = start();
    for (let client = 0; client < 3_000; client++) note(client, { standing: 'declared', answer: 'offer', address: client });
    for (let client = 3_000; client < 4_000; client++) note(client, { standing: 'leased', answer: 'offer', address: client });
    for (let client = 10_000; client < 210_000; client++) note(client, { reason: 'unknown-client' });
    expect(traffic.notNoted).toBe(0);
    const known = [...traffic.clients()];
    expect(known.filter(({ standing }) => standing === 'declared').length).toBe(3_000);
    expect(known.filter(({ standing }) => standing === 'leased').length).toBe(1_000);
    expect(known.filter(({ standing }) => standing === 'unknown').length).toBe(1_024);
    expect(traffic.replaced()).toEqual({ declared: 0, leased: 0, unknown: 198_976 });
    expect(clientOf(209_999)).toHaveLength(1);
    expect(clientOf(1)[0]?.answers).toEqual({ OFFER: 1 });
  });
});
