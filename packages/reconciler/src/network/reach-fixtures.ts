/** Binding x `ipam` x CNI type: who answers an interface. */
import type { InterfaceReach } from './interface-reach.js';

export interface ReachRow {
  readonly what: string;
  /** Fields of the interface in KubeVirt. */
  readonly binding: Readonly<Record<string, unknown>>;
  /** `spec.config` of the NetworkAttachmentDefinition. */
  readonly config: Readonly<Record<string, unknown>> | string | undefined;
  readonly expected: 'served' | Exclude<InterfaceReach, { readonly kind: 'served' }>['reason'];
}

const BRIDGE = { type: 'bridge', bridge: 'br1', vlan: 48 };
const HOST_LOCAL = { ipam: { type: 'host-local', subnet: '10.0.0.0/24' } };
const OVN = { type: 'ovn-k8s-cni-overlay', name: 'lab' };
const LOCALNET = { ...OVN, topology: 'localnet' };
const SUBNETS = { subnets: '10.0.0.0/24' };
const KUBE_OVN = { type: 'kube-ovn', provider: 'net.default.ovn' };
const plugin = (name: string) => ({ binding: { name } });

const row = (
  what: string,
  [binding, config]: readonly [ReachRow['binding'], ReachRow['config']],
  expected: ReachRow['expected'],
) => ({
  what,
  binding,
  config,
  expected,
});

export const REACH_ROWS: readonly ReachRow[] = [
  row('bridge without ipam', [{ bridge: {} }, BRIDGE], 'served'),
  row('no binding', [{}, BRIDGE], 'served'),
  row('bridge with an empty ipam', [{ bridge: {} }, { ...BRIDGE, ipam: {} }], 'served'),
  row('bridge with an ipam of empty type', [{ bridge: {} }, { ...BRIDGE, ipam: { type: '' } }], 'served'),
  row('bridge with ipam', [{ bridge: {} }, { ...BRIDGE, ...HOST_LOCAL }], 'served-twice'),
  row('no binding, with ipam', [{}, { ...BRIDGE, ipam: { type: 'whereabouts' } }], 'served-twice'),
  row('bridge with ipam dhcp', [{ bridge: {} }, { ...BRIDGE, ipam: { type: 'dhcp' } }], 'served-twice'),
  row('bridge with ipam in plugins', [{ bridge: {} }, { plugins: [{ ...BRIDGE, ...HOST_LOCAL }] }], 'served-twice'),
  row(
    'bridge with ipam in the second of plugins',
    [{ bridge: {} }, { plugins: [BRIDGE, { type: 'tuning', ...HOST_LOCAL }] }],
    'served-twice',
  ),
  row('bridge on ovs', [{ bridge: {} }, { type: 'ovs', bridge: 'br1' }], 'served'),
  row('bridge on macvlan with ipam', [{ bridge: {} }, { type: 'macvlan', master: 'eth1', ...HOST_LOCAL }], 'served-twice'),
  row(
    'bridge on macvlan with ipam of kube-ovn',
    [{ bridge: {} }, { type: 'macvlan', ipam: { type: 'kube-ovn' } }],
    'served-twice',
  ),
  row('bridge on a network of unreadable configuration', [{ bridge: {} }, '{'], 'served'),
  row('bridge on a network without configuration', [{ bridge: {} }, undefined], 'served'),
  row('masquerade', [{ masquerade: {} }, BRIDGE], 'binding-not-served'),
  row('masquerade with ipam', [{ masquerade: {} }, { ...BRIDGE, ...HOST_LOCAL }], 'binding-not-served'),
  row('masquerade, configuration unknown', [{ masquerade: {} }, undefined], 'binding-not-served'),
  row('passt of older versions', [{ passt: {} }, BRIDGE], 'binding-not-served'),
  row('passt of newer versions', [{ passtBinding: {} }, BRIDGE], 'binding-not-served'),
  row('the plugin passt', [plugin('passt'), BRIDGE], 'binding-not-served'),
  row('slirp', [{ slirp: {} }, BRIDGE], 'binding-not-served'),
  row('passt on OVN with subnets', [{ passt: {} }, { ...LOCALNET, ...SUBNETS }], 'binding-not-served'),
  row('an unknown plugin', [plugin('l2bridge'), BRIDGE], 'served'),
  row('an unknown plugin with ipam', [plugin('l2bridge'), { ...BRIDGE, ...HOST_LOCAL }], 'served'),
  row('the plugin macvtap', [plugin('macvtap'), { type: 'macvtap' }], 'served'),
  row('the plugin macvtap with ipam', [plugin('macvtap'), { type: 'macvtap', ...HOST_LOCAL }], 'served'),
  row('sriov', [{ sriov: {} }, { type: 'sriov', vlan: 48 }], 'served'),
  row('sriov with ipam', [{ sriov: {} }, { type: 'sriov', ...HOST_LOCAL }], 'served'),
  row('localnet of OVN-Kubernetes without subnets', [{ bridge: {} }, LOCALNET], 'served'),
  row('localnet of OVN-Kubernetes with subnets', [{ bridge: {} }, { ...LOCALNET, ...SUBNETS }], 'network-not-served'),
  row('the same in plugins', [{ bridge: {} }, { plugins: [{ ...LOCALNET, ...SUBNETS }] }], 'network-not-served'),
  row(
    'layer2 of OVN-Kubernetes with subnets',
    [plugin('l2bridge'), { ...OVN, topology: 'layer2', ...SUBNETS }],
    'network-not-served',
  ),
  row('layer2 of OVN-Kubernetes without subnets', [{ bridge: {} }, { ...OVN, topology: 'layer2' }], 'served'),
  row(
    'the primary network of OVN-Kubernetes',
    [plugin('l2bridge'), { ...OVN, topology: 'layer2', role: 'primary' }],
    'network-not-served',
  ),
  row('a secondary network of OVN-Kubernetes', [{ bridge: {} }, { ...OVN, topology: 'layer2', role: 'secondary' }], 'served'),
  row('sriov on OVN-Kubernetes with subnets', [{ sriov: {} }, { ...LOCALNET, ...SUBNETS }], 'network-not-served'),
  row('bridge on kube-ovn', [{ bridge: {} }, KUBE_OVN], 'may-be-served-twice'),
  row('a plugin on kube-ovn', [plugin('managedtap'), KUBE_OVN], 'may-be-served-twice'),
  row('masquerade on kube-ovn', [{ masquerade: {} }, KUBE_OVN], 'binding-not-served'),
];

/** `spec` of a NetworkAttachmentDefinition. */
export function networkSpec(config: ReachRow['config']): Record<string, unknown> {
  if (config === undefined) return {};
  return { config: typeof config === 'string' ? config : JSON.stringify(config) };
}
