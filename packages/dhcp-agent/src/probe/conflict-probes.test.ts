import { type Answer, answerPacket, type Lease, LeaseTable, ServedPool, validatePool } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { AddressUse } from '../ports.js';
import { RecordingObserver } from '../testing/recording-observer.js';
import { encodeClientPacket } from './client-packet.js';
import { ConflictProbes } from './conflict-probes.js';

const VM_A = '02:00:00:00:00:0a';
const SQUATTER = '02:00:00:00:00:66';
const ADDRESS = 0x0a00000a;
const DISCOVER = encodeClientPacket({ type: 'discover', macAddress: VM_A, xid: 1 });

function setUp(use: AddressUse | Error) {
  const checked = validatePool({ name: 'net', cidr: '10.0.0.0/24', serverAddress: '10.0.0.1' });
  if (!checked.ok) throw new Error('no pool');
  const leases = new LeaseTable();
  leases.replacePool('net', [{ macAddress: VM_A, address: ADDRESS }]);
  const lease = leases.lookup('net', VM_A) as Lease;
  const answer = answerPacket(DISCOVER, {
    pools: [new ServedPool(checked.value)],
    leaseOf: (pool, mac) => leases.lookup(pool, mac),
  }) as Answer;
  const conflicts: unknown[] = [];
  const injected: Uint8Array[] = [];
  const probes = new ConflictProbes({
    observer: new RecordingObserver(),
    nowMs: () => 0,
    isLeader: () => false,
    findUsers: () => (use instanceof Error ? Promise.reject(use) : Promise.resolve(use)),
    onConflict: (_pool, conflict) => conflicts.push(conflict),
    inject: (_interfaceName, packet) => injected.push(packet),
  });
  probes.noteFresh('eth1', [lease]);
  return { probes, answer, lease, conflicts, injected, settled: () => new Promise(setImmediate) };
}

describe('the first answer to a client with a new address waits until the address was probed', () => {
  it.each<[what: string, use: AddressUse]>([
    ['no host uses it', { byClient: false, others: [] }],
    ['the client itself uses it', { byClient: true, others: [] }],
  ])('%s: it is given', async (_what, use) => {
    const { probes, answer, lease, conflicts, injected, settled } = setUp(use);
    expect(probes.defer('eth1', answer, DISCOVER)).toBe(true);
    await settled();
    expect([conflicts, injected]).toEqual([[], [DISCOVER]]);
    expect(probes.isFresh(lease)).toBe(false);
    expect(probes.defer('eth1', answer, DISCOVER)).toBe(false);
  });

  it.each<[what: string, byClient: boolean]>([
    ['another host uses it', false],
    ['another host uses it as well as the client', true],
  ])('%s: it is a conflict, and its user is named', async (_what, byClient) => {
    const { probes, answer, conflicts, injected, settled } = setUp({ byClient, others: [SQUATTER] });
    expect(probes.defer('eth1', answer, DISCOVER)).toBe(true);
    await settled();
    expect(conflicts).toEqual([{ address: ADDRESS, macAddress: VM_A, usedBy: SQUATTER }]);
    expect(injected).toEqual([]);
  });

  it('the address cannot be probed: the client gets no reply, and the agent probes again when the client asks', async () => {
    const { probes, answer, lease, conflicts, injected, settled } = setUp(new Error('EPERM'));
    expect(probes.defer('eth1', answer, DISCOVER)).toBe(true);
    await settled();
    expect([conflicts, injected]).toEqual([[], []]);
    expect(probes.isFresh(lease)).toBe(true);
    expect(probes.defer('eth1', answer, DISCOVER)).toBe(true);
  });
});
