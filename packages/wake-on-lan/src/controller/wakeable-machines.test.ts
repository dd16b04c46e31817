import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { MemoryInventory, macEndingIn, readConfig, wakeMachine } from '../config/wol-config-fixtures.js';
import { WakeableMachineIndex } from './wakeable-machines.js';

function setUp() {
  const [clock, inventory, changes] = [new FakeClock(), new MemoryInventory(), [] as string[]];
  const index = new WakeableMachineIndex({ inventory, clock, onMachineChange: () => changes.push('machine') });
  const found = (last: number) => {
    const target = index.find(macEndingIn(last));
    return target.kind === 'machine' ? `${target.machine.name} by ${target.configs.join(', ')}` : target.kind;
  };
  return { clock, inventory, changes, index, found };
}

describe('the index of machines that may be woken', () => {
  it('a story: machines exist, appear, change and disappear; WolConfigs are created and deleted', () => {
    const { inventory, changes, index, found } = setUp();
    inventory.set(wakeMachine('lab/vm-a', 1));
    index.start();
    expect(found(1)).toBe('not-allowed');
    index.setConfigs([readConfig('all')]);
    expect(found(1)).toBe('vm-a by all');
    inventory.set(wakeMachine('lab/vm-b', 2));
    expect([found(2), changes]).toEqual(['vm-b by all', ['machine']]);
    inventory.set(wakeMachine('lab/vm-b', 3));
    expect([found(2), found(3)]).toEqual(['not-allowed', 'vm-b by all']);
    inventory.set(wakeMachine('lab/vm-c', 3));
    expect([found(3), index.duplicates().get('all')?.[0]?.machines]).toEqual(['ambiguous', ['lab/vm-b', 'lab/vm-c']]);
    inventory.delete('lab/vm-c');
    expect([found(3), index.managedBy('all'), index.duplicates().size]).toEqual(['vm-b by all', 2, 0]);
    index.setConfigs([]);
    expect([found(1), found(3), index.managedBy('all')]).toEqual(['not-allowed', 'not-allowed', 0]);
    index.stop();
    inventory.set(wakeMachine('lab/vm-d', 4));
    expect(changes).toHaveLength(4);
  });

  it('a machine is unpaused if one of the WolConfigs that allow it says so', () => {
    const { index } = setUp();
    index.setConfigs([readConfig('plain'), readConfig('unpauses', { unpause: true })]);
    expect(index.policyOf(['plain', 'unpauses'])).toEqual({ unpauses: true });
    expect(index.policyOf(['plain'])).toEqual({ unpauses: false });
    index.setConfigs([readConfig('plain'), readConfig('unpauses')]);
    expect(index.policyOf(['plain', 'unpauses']), 'also where the machines are the same').toEqual({ unpauses: false });
  });

  it('a WolConfig without a password adds nothing to one that has one: neither to its list nor to what is woken', () => {
    const { inventory, index, found } = setUp();
    inventory.set(wakeMachine('lab/vm-a', 1));
    const explicitMappings = [{ macAddress: macEndingIn(1), namespace: 'lab', vmName: 'vm-a' }];
    const passwordSecret = { name: 'office', key: 'password' };
    const secured = readConfig('secured', { discoveryMode: 'Explicit', explicitMappings, passwordSecret });
    index.setConfigs([secured, readConfig('open', { namespaceSelectors: ['prod'], wolPorts: [7] })]);
    expect([found(1), index.addresses.snapshot(), index.size()]).toEqual(['needs-password', [], 1]);
    expect(index.find(macEndingIn(1), 'office/password').kind).toBe('machine');
    expect(index.addresses.snapshot('office/password')).toEqual([macEndingIn(1)]);
    expect([...index.addresses.passwords()]).toEqual(['office/password']);
    index.setConfigs([secured, readConfig('open', { namespaceSelectors: ['lab'], wolPorts: [7] })]);
    expect(found(1)).toBe('vm-a by open');
  });

  it('listeners are told once about many changes', async () => {
    const { clock, inventory, index } = setUp();
    const seen: number[] = [];
    index.start();
    index.setConfigs([readConfig('all')]);
    await clock.advance(1_000);
    const end = index.addresses.onChange(() => seen.push(index.addresses.snapshot().length));
    for (let last = 0; last < 200; last++) inventory.set(wakeMachine(`lab/vm-${last}`, last));
    expect(seen).toEqual([]);
    await clock.advance(1_000);
    expect(seen).toEqual([200]);
    inventory.delete('lab/vm-0');
    await clock.advance(1_000);
    expect(seen).toEqual([200, 199]);
    end();
    inventory.delete('lab/vm-1');
    await clock.advance(1_000);
    expect(seen).toHaveLength(2);
    index.stop();
    expect(clock.pending).toBe(0);
  });
});
