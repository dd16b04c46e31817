/**
 * Who answers the DHCP requests of an interface, as far as its binding and the NetworkAttachmentDefinition show: the agents alone, the agents and
 * another server, or another one alone. This is the only place that decides it. Where the objects do not show it, the interface is served: an address
 * is better than none.
 *
 * Source: KubeVirt's own DHCP server runs in the pod for the binding masquerade, and for the binding bridge if the pod's interface has an IPv4 address,
 * which only `ipam` of the network or its CNI plugin gives. Masquerade, passt and slirp connect no interface of the guest to the network.
 */
import { DHCP_OPT_OUT_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { type KubernetesObject, keyOf, readText } from '@vmdhcp/kube-runtime';
import type { Explanation } from '../explanation.js';
import { readPlugins } from './network-segment.js';

/** How KubeVirt connects an interface of a virtual machine. `plugin`: by a network binding plugin, whose effect only KubeVirt's configuration shows. */
export type InterfaceBinding =
  | { readonly kind: 'bridge' | 'masquerade' | 'passt' | 'slirp' | 'sriov' }
  | { readonly kind: 'plugin'; readonly name: string };

export type NotServedReason = 'binding-not-served' | 'network-not-served';
export type ReachReason = NotServedReason | 'served-twice' | 'may-be-served-twice';

export type InterfaceReach =
  | { readonly kind: 'served' }
  /** The agents cannot reach the guest, by design. */
  | { readonly kind: 'not-served'; readonly reason: NotServedReason; readonly explanation: Explanation }
  /** The agents answer, and so does another server, or it may. */
  | { readonly kind: 'served-twice'; readonly reason: 'served-twice' | 'may-be-served-twice'; readonly explanation: Explanation };

const SERVED: InterfaceReach = { kind: 'served' };

/** @param network - the NetworkAttachmentDefinition; undefined if it is not known. */
export function judgeReach(binding: InterfaceBinding, network: KubernetesObject | undefined): InterfaceReach {
  const inPod = inPodBinding(binding);
  if (inPod !== undefined) return { kind: 'not-served', reason: 'binding-not-served', explanation: explainInPod(inPod) };
  if (network === undefined) return SERVED;
  const plugins = readPlugins(network);
  const type = readText(plugins[0], 'type');
  if (type === 'ovn-k8s-cni-overlay') return ofOvnKubernetes(keyOf(network), plugins[0]);
  const ipam = plugins.map((plugin) => readText(plugin, 'ipam', 'type')).find((text) => text !== undefined && text !== '');
  if (ipam !== undefined && binding.kind === 'bridge')
    return { kind: 'served-twice', reason: 'served-twice', explanation: explainIpam(keyOf(network), ipam) };
  if (type === 'kube-ovn')
    return { kind: 'served-twice', reason: 'may-be-served-twice', explanation: explainKubeOvn(keyOf(network)) };
  return SERVED;
}

/** The same for the usual interfaces of a network, whose virtual machines are not known. */
export function judgeNetworkReach(network: KubernetesObject): InterfaceReach {
  return judgeReach(usualBinding(readText(readPlugins(network)[0], 'type')), network);
}

/** KubeVirt attaches these networks by no bridge, so its own server does not run. */
function usualBinding(cniType: string | undefined): InterfaceBinding {
  if (cniType === 'sriov') return { kind: 'sriov' };
  return cniType === 'macvtap' ? { kind: 'plugin', name: 'macvtap' } : { kind: 'bridge' };
}

/** KubeVirt's names for bindings that end in the pod; undefined for others. */
function inPodBinding(binding: InterfaceBinding): string | undefined {
  const name = binding.kind === 'plugin' ? binding.name : binding.kind;
  return name === 'masquerade' || name === 'passt' || name === 'slirp' ? name : undefined;
}

function explainInPod(binding: string): Explanation {
  return {
    message: `the binding ${binding} keeps DHCP requests in the pod, where another server answers them`,
    remedy: `use the binding bridge on this network, or opt the interface out with annotation ${DHCP_OPT_OUT_ANNOTATION}`,
  };
}

function ofOvnKubernetes(network: string, plugin: unknown): InterfaceReach {
  const cause =
    readText(plugin, 'role') === 'primary'
      ? 'has role primary, so OVN-Kubernetes answers DHCP requests itself'
      : readText(plugin, 'subnets')
        ? 'has subnets, so OVN-Kubernetes assigns the addresses and drops packets from any other address'
        : undefined;
  if (cause === undefined) return SERVED;
  const remedy =
    'to have an IPPool serve it, use a NetworkAttachmentDefinition without subnets and with role secondary; otherwise delete the IPPool of the network';
  return { kind: 'not-served', reason: 'network-not-served', explanation: { message: `network ${network} ${cause}`, remedy } };
}

function explainIpam(network: string, type: string): Explanation {
  return {
    message: `network ${network} has ipam of type ${type}, so KubeVirt answers DHCP requests in the pod of each virtual machine too, and a guest may take that address`,
    remedy: 'remove ipam from spec.config of the NetworkAttachmentDefinition, and restart its virtual machines',
  };
}

function explainKubeOvn(network: string): Explanation {
  return {
    message: `kube-ovn manages network ${network}, and if its Subnet has a cidrBlock, KubeVirt or OVN answers DHCP requests too`,
    remedy:
      'use a Subnet with vlan and without cidrBlock, which leaves addresses to another DHCP server; if it is such a Subnet, nothing has to be done',
  };
}
