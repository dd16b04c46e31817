import { type Ipv4Address, type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import { type AssignedClient, exactly } from './assignment-record.js';
import { type ChangeFacts, followPool, NO_RECORDS } from './follow-pool.js';

const mac = (text: string) => parseMacAddress(`02:00:00:00:00:${text}`) as MacAddress;
const has = (
  address: Ipv4Address,
  client: string,
  virtualMachine: string | undefined = `default/${client}`,
  uid = 'u',
): AssignedClient => ({
  address,
  macAddress: mac(client),
  virtualMachine,
  uid,
  interface: 'nic',
});
const facts: ChangeFacts = {
  network: 'default/net',
  when: exactly(1_000),
  whyBegan: () => 'assigned',
  whyEnded: () => 'vm-deleted',
  isInConflict: () => false,
};

/** `0a 1 began`, `0a 1 ended`, in order. */
function changes(before: readonly AssignedClient[], after: readonly AssignedClient[], more: Partial<ChangeFacts> = {}): string[] {
  const { open } = followPool(NO_RECORDS, before, facts);
  const { records } = followPool(open, after, { ...facts, ...more });
  return records.map(({ macAddress, address, began, end }) => {
    const which = `${macAddress.slice(-2)} .${address}`;
    return end === undefined ? `${which} began: ${began}` : `${which} ended: ${end.reason}`;
  });
}

describe('reasons of a change', () => {
  it.each<[string, readonly AssignedClient[], readonly AssignedClient[], Partial<ChangeFacts>, string[]]>([
    ['nothing changed', [has(1, '0a')], [has(1, '0a')], {}, []],
    ['a new client', [], [has(1, '0a')], {}, ['0a .1 began: assigned']],
    ['a pinned address', [], [has(1, '0a')], { whyBegan: () => 'pinned' }, ['0a .1 began: pinned']],
    ['a client that is gone', [has(1, '0a')], [], {}, ['0a .1 ended: vm-deleted']],
    ['another address', [has(1, '0a')], [has(2, '0a')], {}, ['0a .1 ended: moved', '0a .2 began: moved']],
    [
      'another address after a conflict',
      [has(1, '0a')],
      [has(2, '0a')],
      { isInConflict: (address) => address === 1 },
      ['0a .1 ended: address-conflict', '0a .2 began: address-conflict'],
    ],
    [
      'two clients that exchange their addresses',
      [has(1, '0a'), has(2, '0b')],
      [has(2, '0a'), has(1, '0b')],
      {},
      ['0a .1 ended: moved', '0b .2 ended: moved', '0b .1 began: moved', '0a .2 began: moved'],
    ],
    [
      'another MAC address of the same virtual machine',
      [has(1, '0a', 'default/vm')],
      [has(1, '0b', 'default/vm')],
      {},
      ['0a .1 ended: mac-address-changed', '0b .1 began: mac-address-changed'],
    ],
    [
      'another virtual machine with the same MAC address',
      [has(1, '0a', 'default/one')],
      [has(1, '0a', 'default/two')],
      {},
      ['0a .1 ended: owner-changed', '0a .1 began: owner-changed'],
    ],
    [
      'a virtual machine that was created again under the same name',
      [has(1, '0a', 'default/vm', 'u-1')],
      [has(1, '0a', 'default/vm', 'u-2')],
      {},
      ['0a .1 ended: vm-deleted', '0a .1 began: assigned'],
    ],
    [
      'an address that the pool cannot lease any more',
      [has(1, '0a')],
      [has(2, '0a')],
      { whyEnded: () => 'pool-changed' },
      ['0a .1 ended: pool-changed', '0a .2 began: moved'],
    ],
    [
      'changes that are found after a crash',
      [has(1, '0a')],
      [has(1, '0b')],
      { late: 'not-recorded' },
      ['0a .1 ended: not-recorded', '0b .1 began: not-recorded'],
    ],
  ])('%s', (_name, before, after, more, expected) => {
    expect(changes(before, after, more)).toEqual(expected);
  });

  it('learning a UID is not a change', () => {
    const before: AssignedClient = { ...has(1, '0a'), uid: undefined };
    expect(changes([before], [has(1, '0a', 'default/0a', 'u-1')])).toEqual([]);
  });
});

it('nothing is copied while nothing changes', () => {
  const { open } = followPool(NO_RECORDS, [has(1, '0a')], facts);
  expect(followPool(open, [has(1, '0a')], facts).open).toBe(open);
});
