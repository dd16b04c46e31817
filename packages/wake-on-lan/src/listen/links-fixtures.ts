import type { ListenableLink } from './listenable-link.js';

let lastIndex = 100;

export interface LinkFacts {
  readonly index?: number;
  readonly kind?: string;
  readonly master?: number;
  readonly isUp?: boolean;
  readonly isEthernet?: boolean;
}

export function link(name: string, { index, kind, master, isUp = true, isEthernet = true }: LinkFacts): ListenableLink {
  return { interfaceName: name, interfaceIndex: index ?? ++lastIndex, isUp, isEthernet, kind, masterIndex: master };
}

/** A node with a management network, one for virtual machines, and one card that belongs to neither. */
export const HARVESTER: readonly ListenableLink[] = [
  link('lo', { index: 1, isEthernet: false }),
  link('eno1', { index: 2, master: 4 }),
  link('eno2', { index: 3, master: 6 }),
  link('mgmt-bo', { index: 4, kind: 'bond', master: 5 }),
  link('mgmt-br', { index: 5, kind: 'bridge' }),
  link('prod-bo', { index: 6, kind: 'bond', master: 8 }),
  link('mgmt-br.100', { index: 7, kind: 'vlan' }),
  link('prod-br', { index: 8, kind: 'bridge' }),
  link('eno3', { index: 9 }),
  link('eno4', { index: 10, isUp: false }),
  link('flannel.1', { kind: 'vxlan' }),
  link('cni0', { kind: 'bridge' }),
  link('cali0a1b2c3d4e5', { kind: 'veth' }),
  link('veth5f3a', { kind: 'veth', master: 8 }),
  link('tap37a8eec1ce1', { kind: 'tun', master: 8 }),
  link('kube-ipvs0', { kind: 'dummy' }),
];
