import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { describe, expect, it } from 'vitest';
import type { WantedInterface } from '../virtual-machine/wanted-interfaces.js';
import { VirtualMachineIndex } from './virtual-machine-index.js';

const [A, B] = ['02:00:00:00:00:0a', '02:00:00:00:00:0b'].map((text) => parseMacAddress(text) as MacAddress) as [
  MacAddress,
  MacAddress,
];
const on = (networkName: string, macAddress: MacAddress) => ({ name: 'nic', networkName, macAddress }) as WantedInterface;

describe('virtual machines by interface', () => {
  it('copies share a MAC address on a network, but not on another one', () => {
    const index = new VirtualMachineIndex();
    index.update('d/vm-a', [on('d/n1', A)]);
    index.update('d/vm-b', [on('d/n1', A), on('d/n2', B)]);
    expect([...index.having('d/n1', A)]).toEqual(['d/vm-a', 'd/vm-b']);
    expect([...index.having('d/n2', A)]).toEqual([]);
    expect([...index.having('d/n2', B)]).toEqual(['d/vm-b']);
    expect(index.interfacesOf('d/vm-a')).toEqual([on('d/n1', A)]);
    expect(index.interfacesOf('d/vm-c')).toEqual([]);
  });

  it.each<[string, readonly WantedInterface[] | undefined, readonly string[]]>([
    ['nothing changes', [on('d/n1', A), on('d/n2', B)], []],
    ['an interface is added', [on('d/n1', A), on('d/n2', B), on('d/n3', B)], []],
    ['an interface is removed', [on('d/n1', A)], ['d/n2']],
    ['an interface gets another MAC address', [on('d/n1', B), on('d/n2', B)], ['d/n1']],
    ['an interface moves to another network', [on('d/n3', A), on('d/n2', B)], ['d/n1']],
    ['it vanishes', undefined, ['d/n1', 'd/n2']],
  ])('the networks on which it has one interface less: %s', (_, after, lost) => {
    const index = new VirtualMachineIndex();
    index.update('d/vm-a', [on('d/n1', A), on('d/n2', B)]);
    expect([...index.update('d/vm-a', after)]).toEqual(lost);
  });

  it('a deleted machine has no interfaces, even if it is created again with others', () => {
    const index = new VirtualMachineIndex();
    index.update('d/vm-a', [on('d/n1', A)]);
    index.update('d/vm-a', undefined);
    expect([[...index.having('d/n1', A)], index.interfacesOf('d/vm-a')]).toEqual([[], []]);
    expect([...index.update('d/vm-a', [on('d/n1', B)])]).toEqual([]);
    expect([[...index.having('d/n1', A)], [...index.having('d/n1', B)]]).toEqual([[], ['d/vm-a']]);
  });
});
