import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MacAddressOwners } from './mac-address-owners.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'].map((text) => parseMacAddress(text) as MacAddress) as [
  MacAddress,
  MacAddress,
];

it('law: the owners of an address are those that were added and not removed since, each once and sorted', () => {
  const act = fc.record({
    isAdded: fc.boolean(),
    macAddress: fc.constantFrom(A, B),
    owner: fc.constantFrom('lab/a', 'lab/b', 'red/a'),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 20, size: 'max' }), (acts) => {
      const owners = new MacAddressOwners();
      const expected = new Set<string>();
      for (const { isAdded, macAddress, owner } of acts) {
        if (isAdded) owners.add(macAddress, owner);
        else owners.remove(macAddress, owner);
        if (isAdded) expected.add(`${macAddress} ${owner}`);
        else expected.delete(`${macAddress} ${owner}`);
      }
      const found = [A, B].flatMap((macAddress) => owners.of(macAddress).map((owner) => `${macAddress} ${owner}`));
      expect(found).toEqual([...expected].toSorted());
    }),
  );
});
