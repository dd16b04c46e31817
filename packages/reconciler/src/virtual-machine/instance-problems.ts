/** Explains why interfaces have no address because of the VirtualMachineInstance. */
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { describeNames, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { isUncertain } from './machine-interfaces.js';
import { describeEntries, toNetworkConfig } from './network-config-entries.js';
import { type ReachContext, reachableInterfaces } from './reachable-interfaces.js';
import type { VirtualMachineProblem } from './virtual-machine-problem.js';
import type { MachineKnowledge, WantedInterfaces } from './wanted-interfaces.js';

/** What delays a change of the template, unless a known running instance does. */
export function delayedChanges(
  virtualMachine: KubernetesObject,
  wanted: readonly NetworkConfig[],
  { known, observed }: ReachContext,
): VirtualMachineProblem[] {
  if (!isUncertain(known.instance)) return [];
  const { interfaces } = reachableInterfaces(virtualMachine, { known: { ...known, instance: undefined }, observed });
  if (interfaces === undefined || describeEntries(interfaces.map(toNetworkConfig)) === describeEntries(wanted)) return [];
  const begin =
    'the interfaces of the virtual machine have changed, and a VirtualMachineInstance may run with the former ones: nothing is freed';
  if (known.instance === 'unreadable') {
    const message = `${begin} before the controller may read VirtualMachineInstances; ${INSTANCES_REMEDY}`;
    return [{ reason: 'virtual-machine-instances-unreadable', message }];
  }
  const message = `${begin} before the controller sees that instance; status.created of the virtual machine is true, and the controller has seen no VirtualMachineInstance ${nameOf(virtualMachine)} that has not ended; check that virt-controller of KubeVirt runs, and that the API server lists VirtualMachineInstances`;
  return [{ reason: 'virtual-machine-instance-unseen', message }];
}

function nameOf({ metadata: { namespace, name } }: KubernetesObject): string {
  return `${namespace === undefined ? '' : `${namespace}/`}${name}`;
}

/** How to allow the controller to read VirtualMachineInstances. */
export const INSTANCES_REMEDY =
  'allow its ServiceAccount list and watch on virtualmachineinstances of the API group kubevirt.io (manifests/vmdhcp.yaml has the rule)';

export function describeAwaited(
  virtualMachine: KubernetesObject,
  { awaited }: WantedInterfaces,
  { instance }: MachineKnowledge,
): string | undefined {
  if (awaited.size === 0) return undefined;
  const names = describeNames([...awaited.keys()].toSorted());
  const source = `status.interfaces of VirtualMachineInstance ${nameOf(virtualMachine)}`;
  const begin = `no IP address yet for ${names}, as the MAC address is not known`;
  if (instance === 'unreadable') return `${begin}: the controller may not read ${source}; ${INSTANCES_REMEDY}`;
  if (instance !== undefined) return `${begin}: KubeVirt writes it to ${source} when the virtual machine has started`;
  return `${begin}: start the virtual machine, then KubeVirt writes it to ${source}; or set macAddress in spec.template.spec.domain.devices.interfaces`;
}
