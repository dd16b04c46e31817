import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import type { AddressChange } from './address-changes.js';
import { Running } from './controller-fixtures.js';

const SHARED = '02:00:00:00:00:aa';
const withShared = (name: string) => virtualMachine(name, { interfaces: { nic: [SHARED, 'net-1'] } });

it('after a restart, a change is logged with the virtual machine that has the address, not with a clone of its MAC address', async () => {
  const changes: AddressChange[] = [];
  const story = new Running({ onAddressChange: (change) => void changes.push(change) });
  await story.add(network(), pool('pool-1'));
  await story.started();
  await story.add(withShared('web'));
  await story.settle();
  await story.add(withShared('a-clone'));
  await story.settle();
  const conditions = (name: string) => story.conditions('VirtualMachineNetworkConfig', name);
  expect(conditions('a-clone')).toContain('Allocated=False MacAddressClaimedTwice');
  expect(conditions('web')).toContain('Allocated=True');
  await story.restart();
  changes.splice(0);
  const pinned = { annotations: { 'static-ip.harvesterhci.io/nic': '10.0.0.15' } };
  story.change('VirtualMachine', 'web', (object) => ({ ...object, metadata: { ...object.metadata, ...pinned } }));
  await story.settle();
  expect(conditions('web')).toContain('Allocated=True');
  const allocated = changes.filter(({ kind }) => kind === 'allocated');
  expect(
    allocated.map((one) => (one.kind === 'allocated' ? `${formatIpv4Address(one.address)} ${one.owner} ${one.reason}` : '')),
  ).toEqual(['10.0.0.15 default/web moved']);
});
