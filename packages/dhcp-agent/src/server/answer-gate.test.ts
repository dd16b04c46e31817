import { type Answer, parseIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { encodeClientPacket } from '../probe/client-packet.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import type { SuppressReason } from './agent-packet-reasons.js';
import { type AnswerGate, DhcpServer } from './dhcp-server.js';

const VM_A = '02:00:00:00:00:0a';
const UNKNOWN = '02:00:00:00:00:99';

function setUp(gate: AnswerGate) {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1' });
  if (!checked.ok) throw new Error('no pool');
  const nowMs = () => 1_000;
  const server = new DhcpServer({
    observer: new RecordingObserver(),
    nowMs,
    findUsers: () => Promise.reject(new Error('no DECLINE is sent here')),
    onDeclined: () => undefined,
    onBindingChanged: () => undefined,
  });
  server.setPool(checked.value, [{ macAddress: VM_A, address: parseIpv4Address('10.0.0.10') as number }]);
  const handle = server.handler('eth1', () => server.poolsNamed(['net']), gate);
  const discover = (macAddress: string) =>
    handle(encodeClientPacket({ type: 'discover', macAddress, xid: 1, options: [] }), Buffer.alloc(1_472));
  return {
    server,
    discover,
    counted: () => [...server.counters.messages()].map(({ outcome, reason }) => `${outcome} ${reason}`.trim()),
  };
}

describe('the gate for replies', () => {
  it.each<SuppressReason>(['standing-by', 'address-being-probed'])(
    '%s: no reply is sent, and the reason is counted',
    (reason) => {
      const { discover, counted } = setUp({ whyNotSent: () => reason });
      expect(discover(VM_A)).toBeUndefined();
      expect(counted()).toEqual([`ignored ${reason}`]);
    },
  );

  it('is open: the reply is sent and counted', () => {
    const { discover, counted } = setUp({ whyNotSent: () => undefined });
    expect(discover(VM_A)).toBeDefined();
    expect(counted()).toEqual(['offer']);
  });

  it('is not asked about a client that gets no reply anyway', () => {
    const asked: Answer[] = [];
    const gate: AnswerGate = {
      whyNotSent: (answer) => {
        asked.push(answer);
        return 'standing-by';
      },
    };
    const { discover, counted } = setUp(gate);
    expect(discover(UNKNOWN)).toBeUndefined();
    expect(asked).toEqual([]);
    expect(counted()).toEqual(['ignored unknown-client']);
  });

  it('may send the reply to another destination', () => {
    const { discover } = setUp({
      whyNotSent: () => undefined,
      redirect: (answer) => ({
        ...answer,
        destination: { ...answer.destination, kind: 'broadcast' } as typeof answer.destination,
      }),
    });
    expect(discover(VM_A)?.destination.kind).toBe('broadcast');
  });
});
