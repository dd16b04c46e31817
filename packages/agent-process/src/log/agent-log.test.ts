import type { AgentEvent } from '@vmdhcp/dhcp-agent/packet-path';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { AgentLog } from './agent-log.js';
import { LeaseEventLog } from './lease-event-log.js';
import { PacketLog } from './packet-log.js';

const MAC = '02:00:00:00:00:0a';
const [WARN, INFO, ERROR] = [40, 30, 50];

function setUp() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });
  const clock = { nowMs: 0 };
  const nowMs = () => clock.nowMs;
  const events: AgentEvent[] = [];
  const packetLog = new PacketLog(logger, { packets: false, nowMs });
  const leaseEvents = new LeaseEventLog(logger, nowMs);
  const log = new AgentLog({ logger, leaseEvents, packetLog, nowMs, onEvent: (event) => events.push(event) });
  return { log, lines, clock, events, packetLog, leaseEvents };
}

describe('the log of an agent', () => {
  it.each<[AgentEvent, number, RegExp, object]>([
    [{ kind: 'leader' }, INFO, /^became leader$/, {}],
    [{ kind: 'leadership-lost' }, WARN, /^leadership lost$/, {}],
    [{ kind: 'stepping-down', troubles: ['a'] }, WARN, /^stepping down: /, { troubles: ['a'] }],
    [
      { kind: 'lease-unreachable', error: new Error('EPIPE') },
      WARN,
      /Lease cannot be read or written/,
      { err: expect.anything() },
    ],
    [{ kind: 'another-holder', holder: 'b' }, WARN, /another agent holds the Lease/, { holder: 'b' }],
    [{ kind: 'suspended-pools', pools: ['a/b'] }, INFO, /pools are suspended/, { pools: ['a/b'] }],
    [{ kind: 'suspended-pools', pools: [] }, INFO, /^no pool is suspended/, { pools: [] }],
    [{ kind: 'addresses-retracted', interfaceNames: ['net0'] }, WARN, /it has removed them/, {}],
    [{ kind: 'address-failed', interfaceName: 'net0', message: 'EPERM' }, ERROR, /^EPERM; trying again/, {}],
    [{ kind: 'announcement-failed', interfaceName: 'net0', error: new Error('x') }, WARN, /announced/, { interface: 'net0' }],
    [{ kind: 'interface-missing', interfaceName: 'net0' }, WARN, /interface is missing/, { interface: 'net0' }],
    [{ kind: 'interface-back', interfaceName: 'net0' }, INFO, /serving it again/, { interface: 'net0' }],
    [{ kind: 'socket-failed', interfaceName: 'net0', error: new Error('EPERM') }, ERROR, /EPERM$/, { interface: 'net0' }],
    [{ kind: 'frames-not-sent', interfaceName: 'net0' }, WARN, /CAP_NET_RAW/, { interface: 'net0' }],
    [{ kind: 'replies-not-sent', interfaceName: 'net0', error: 'E', count: 2 }, WARN, /could not be sent/, { count: 2 }],
    [{ kind: 'interface-isolated', interfaceName: 'net0' }, INFO, /is isolated/, { interface: 'net0' }],
    [{ kind: 'isolation-failed', interfaceName: 'net0', message: 'EPERM' }, ERROR, /^EPERM; it is not served/, {}],
    [{ kind: 'isolation-restored', interfaceName: 'net0', corrected: ['x'] }, WARN, /corrected it/, { corrected: ['x'] }],
    [{ kind: 'pool', pool: 'a/b', state: 'active' }, INFO, /^pool$/, { pool: 'a/b', state: 'active' }],
    [{ kind: 'pool', pool: 'a/b', state: 'unserved', message: 'gone' }, INFO, /^pool$/, { reason: 'gone' }],
    [{ kind: 'pool-unreadable', pool: 'a/b', error: new Error('x') }, WARN, /cannot be read/, { pool: 'a/b' }],
    [{ kind: 'pool-field-ignored', pool: 'a/b', problem: 'p' }, WARN, /invalid: p$/, { pool: 'a/b' }],
    [{ kind: 'pool-log-annotation-ignored', pool: 'a/b', problem: 'p' }, WARN, /^p; it is ignored$/, { pool: 'a/b' }],
    [{ kind: 'owners-unreadable', error: new Error('403') }, WARN, /get, list and watch/, { err: 'Error: 403' }],
    [{ kind: 'standby-answer', pool: 'a/b', macAddress: MAC }, WARN, /this standby answered/, { pool: 'a/b', mac: MAC }],
    [{ kind: 'packet-failed', interfaceName: 'net0', error: new Error('x') }, ERROR, /could not be answered/, {}],
    [
      { kind: 'address-conflict', pool: 'a/b', macAddress: MAC, address: 0x0a000001, usedBy: '02:00:00:00:00:66' },
      ERROR,
      /in use by another machine/,
      { address: '10.0.0.1', usedBy: '02:00:00:00:00:66' },
    ],
    [{ kind: 'address-not-probed', interfaceName: 'net0', error: new Error('x') }, WARN, /cannot be probed/, {}],
    [
      { kind: 'answers-for-every-address', interfaceName: 'net0', macAddress: MAC, addresses: [0x0a000001] },
      WARN,
      /proxy ARP/,
      { mac: MAC, answeredFor: ['10.0.0.1'] },
    ],
    [{ kind: 'rogue-servers', interfaceName: 'net0', servers: [] }, WARN, /another DHCP server answers/, { servers: [] }],
    [{ kind: 'no-rogue-servers', interfaceName: 'net0' }, INFO, /^no other DHCP server/, { interface: 'net0' }],
    [
      { kind: 'network-silent', interfaceName: 'net0' },
      WARN,
      /^no machine of this network can be reached/,
      { interface: 'net0' },
    ],
    [{ kind: 'network-reached', interfaceName: 'net0' }, INFO, /reached again$/, { interface: 'net0' }],
    [{ kind: 'servers-not-probed', interfaceName: 'net0', error: new Error('x') }, WARN, /cannot be probed for other/, {}],
  ])('has a line for %o', (event, level, message, facts) => {
    const { log, lines, events } = setUp();
    log.observe(event);
    expect(lines).toMatchObject([{ level, msg: expect.stringMatching(message), ...facts }]);
    expect(events).toEqual([event]);
  });

  it.each<[AgentEvent, number]>([
    [{ kind: 'standby-answer', pool: 'a/b', macAddress: MAC }, 5],
    [{ kind: 'lease-unreachable', error: 'x' }, 1],
    [{ kind: 'servers-not-probed', interfaceName: 'net0', error: 'x' }, 1],
    [{ kind: 'replies-not-sent', interfaceName: 'net0', error: 'E', count: 1 }, 3],
  ])('has few lines for %o, which can happen many times a second, and counts all of them', (event, most) => {
    const { log, lines, events, clock } = setUp();
    for (let count = 0; count < 100; count++) log.observe(event);
    expect([lines.length, events.length]).toEqual([most, 100]);
    clock.nowMs += 3_600_000;
    log.observe(event);
    expect(lines).toHaveLength(most + 1);
  });

  it('has lease events with their details, and counts them', () => {
    const { log, lines, leaseEvents } = setUp();
    log.observe({ kind: 'lease', event: 'bound', lease: { poolName: 'a/b', macAddress: MAC }, details: { interface: 'net0' } });
    expect(lines).toMatchObject([{ event: 'bound', pool: 'a/b', mac: MAC, interface: 'net0', msg: 'lease bound' }]);
    expect(leaseEvents.counts().get('bound')).toBe(1);
  });

  it('follows the log settings of the Lease and of pools', () => {
    const { log, packetLog, lines } = setUp();
    log.observe({ kind: 'log-settings', settings: { packets: true } });
    expect(packetLog.isActive).toBe(true);
    log.observe({ kind: 'log-settings', settings: {} });
    log.observe({ kind: 'pool-log-settings', pool: 'a/b', settings: { level: 'debug' } });
    expect(packetLog.isActive).toBe(true);
    expect(lines).toEqual([]);
  });

  it('has no line for a burst, and needs neither a packet log nor a log of lease events', () => {
    const { log, lines, events } = setUp();
    log.observe({ kind: 'burst', durationNs: 1 });
    expect([lines, events.length]).toEqual([[], 1]);
    const bare = new AgentLog({ logger: pino({ level: 'silent' }), nowMs: () => 0 });
    bare.observe({ kind: 'lease', event: 'bound', lease: { poolName: 'a/b', macAddress: MAC } });
    bare.observe({ kind: 'log-settings', settings: {} });
    bare.observe({ kind: 'pool-log-settings', pool: 'a/b', settings: {} });
  });
});
