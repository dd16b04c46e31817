import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { network, type PoolText, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import type { AddressChange } from './address-changes.js';
import { Running } from './controller-fixtures.js';

/** `allocated 10.0.0.10 0a default/vm-a new`, each once. */
async function observed(text: PoolText = {}): Promise<{ story: Running; lines: () => string[] }> {
  const changes: AddressChange[] = [];
  const story = new Running({ onAddressChange: (change) => void changes.push(change) });
  await story.add(network(), pool('pool-1', text));
  await story.started();
  const lines = () =>
    changes.splice(0).map((change) => {
      const address = change.kind === 'refused' ? '' : ` ${formatIpv4Address(change.address)}`;
      const previous =
        change.kind === 'allocated' && change.previous !== undefined ? ` from ${formatIpv4Address(change.previous)}` : '';
      expect(change.pool).toBe('default/pool-1');
      return `${change.kind}${address}${previous} ${change.macAddress.slice(-2)} ${change.owner} ${change.reason}`;
    });
  return { story, lines };
}

const pinned = (address: string) => ({ annotations: { 'static-ip.harvesterhci.io/nic': address } });

describe('an observer', () => {
  it('reports each allocation, refusal and release once, with its pool, owner and reason', async () => {
    const { story, lines } = await observed({ end: '10.0.0.11' });
    await story.add(virtualMachine('vm-a'), virtualMachine('vm-b', pinned('10.0.0.11')));
    await story.settle();
    expect(lines()).toEqual(['allocated 10.0.0.10 0a default/vm-a new', 'allocated 10.0.0.11 0b default/vm-b new']);
    await story.add(virtualMachine('vm-c'));
    await story.settle(120_000);
    expect(lines()).toEqual(['refused 0c default/vm-c pool-exhausted']);
    await story.remove('VirtualMachine', 'vm-a');
    await story.settle();
    expect(lines().toSorted()).toEqual([
      'allocated 10.0.0.10 0c default/vm-c new',
      'released 10.0.0.10 0a default/vm-a not-claimed',
    ]);
    await story.restart();
    expect(lines(), 'another controller changes nothing').toEqual([]);
  });

  it('reports moves with the former address, and reservations without an owner', async () => {
    const { story, lines } = await observed({
      ipv4Config: { reservations: [{ macAddress: '02:00:00:00:00:99', ipAddress: '10.0.0.12' }] },
    });
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect(lines()).toEqual(['allocated 10.0.0.12 99 undefined reserved', 'allocated 10.0.0.10 0a default/vm-a new']);
    story.change('VirtualMachine', 'vm-a', (object) => ({ ...object, metadata: { ...object.metadata, ...pinned('10.0.0.15') } }));
    await story.settle();
    expect(lines()).toEqual(['allocated 10.0.0.15 from 10.0.0.10 0a default/vm-a moved']);
    story.change('VirtualMachine', 'vm-a', (object) => ({ ...object, metadata: { ...object.metadata, ...pinned('10.0.0.12') } }));
    await story.settle();
    expect(lines()).toEqual(['refused 0a default/vm-a address-reserved']);
  });

  it('does not report failed writes', async () => {
    const { story, lines } = await observed();
    story.cluster.ipPools.writeFault = () => 'conflict';
    await story.add(virtualMachine('vm-a'));
    await story.settle();
    expect(lines()).toEqual([]);
    story.cluster.ipPools.writeFault = () => 'none';
    await story.settle(60_000);
    expect(lines()).toEqual(['allocated 10.0.0.10 0a default/vm-a new']);
  });
});
