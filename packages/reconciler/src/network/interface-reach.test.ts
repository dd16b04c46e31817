import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../explanation.js';
import { network } from '../fixtures/object-fixtures.js';
import { type InterfaceBinding, type InterfaceReach, judgeNetworkReach, judgeReach } from './interface-reach.js';
import { networkSpec } from './reach-fixtures.js';

const networkOf = (config: Parameters<typeof networkSpec>[0]) => ({ ...network('net'), spec: networkSpec(config) });
const reasonOf = (reach: InterfaceReach) => (reach.kind === 'served' ? 'served' : reach.reason);
const textOf = (reach: InterfaceReach) => (reach.kind === 'served' ? 'served' : sentenceOf(reach.explanation));
const HOST_LOCAL = { ipam: { type: 'host-local' } };

describe('who answers on a network, for its usual interfaces', () => {
  it.each<[string, Parameters<typeof networkSpec>[0], string]>([
    ['a bridge', { type: 'bridge', bridge: 'br1' }, 'served'],
    ['a bridge with ipam', { type: 'bridge', ...HOST_LOCAL }, 'served-twice'],
    ['SR-IOV with ipam, where KubeVirt answers nothing', { type: 'sriov', ...HOST_LOCAL }, 'served'],
    ['macvtap with ipam, where KubeVirt answers nothing', { type: 'macvtap', ...HOST_LOCAL }, 'served'],
    ['OVN-Kubernetes with subnets', { type: 'ovn-k8s-cni-overlay', subnets: '10.0.0.0/24' }, 'network-not-served'],
    ['kube-ovn', { type: 'kube-ovn' }, 'may-be-served-twice'],
    ['no configuration', undefined, 'served'],
  ])('%s', (_, config, expected) => expect(reasonOf(judgeNetworkReach(networkOf(config)))).toBe(expected));
});

it.each<[InterfaceBinding, Parameters<typeof networkSpec>[0], string]>([
  [
    { kind: 'masquerade' },
    undefined,
    'the binding masquerade keeps DHCP requests in the pod, where another server answers them; use the binding bridge on this network, or opt the interface out with annotation network.harvesterhci.io/dhcp-opt-out',
  ],
  [
    { kind: 'bridge' },
    { plugins: [{ type: 'bridge', ipam: { type: 'whereabouts' } }] },
    'network default/net has ipam of type whereabouts, so KubeVirt answers DHCP requests in the pod of each virtual machine too, and a guest may take that address; remove ipam from spec.config of the NetworkAttachmentDefinition, and restart its virtual machines',
  ],
  [
    { kind: 'bridge' },
    { type: 'ovn-k8s-cni-overlay', subnets: '10.0.0.0/24' },
    'network default/net has subnets, so OVN-Kubernetes assigns the addresses and drops packets from any other address; to have an IPPool serve it, use a NetworkAttachmentDefinition without subnets and with role secondary; otherwise delete the IPPool of the network',
  ],
  [
    { kind: 'bridge' },
    { type: 'ovn-k8s-cni-overlay', role: 'primary' },
    'network default/net has role primary, so OVN-Kubernetes answers DHCP requests itself; to have an IPPool serve it, use a NetworkAttachmentDefinition without subnets and with role secondary; otherwise delete the IPPool of the network',
  ],
  [
    { kind: 'bridge' },
    { type: 'kube-ovn' },
    'kube-ovn manages network default/net, and if its Subnet has a cidrBlock, KubeVirt or OVN answers DHCP requests too; use a Subnet with vlan and without cidrBlock, which leaves addresses to another DHCP server; if it is such a Subnet, nothing has to be done',
  ],
])('the explanation of %j on %j has a remedy', (binding, config, text) =>
  expect(textOf(judgeReach(binding, networkOf(config)))).toBe(text),
);

it('law: any configuration is judged, and one without ipam, OVN or kube-ovn is served', () => {
  const word = fc.constantFrom('bridge', 'sriov', 'macvlan', 'calico', '', 7, null);
  const value = fc.oneof(word, fc.record({ type: word }), fc.array(fc.record({ type: word }), { maxLength: 3 }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('type', 'name', 'plugins', 'bridge', 'subnets', 'role'), value), (config) => {
      expect(judgeNetworkReach(networkOf(config))).toEqual({ kind: 'served' });
    }),
  );
  fc.assert(fc.property(fc.jsonValue(), (config) => void judgeNetworkReach(networkOf(JSON.stringify(config)))));
});
