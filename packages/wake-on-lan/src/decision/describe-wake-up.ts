/** Describes decisions for people, in the answer, the Event and the log. */
import { describeNames, quote } from '@vmdhcp/kube-runtime';
import type { NoActionReason, WakeUpRefusalReason } from '../machine/plan-wake-up.js';
import type { WakeReport, WokenMachine } from '../report/wake-report.js';

/** `VirtualMachine lab/vm-a runs already`. */
export function describeNoAction(machine: WokenMachine, reason: NoActionReason): string {
  switch (reason) {
    case 'already-running':
      return `${nameOf(machine)} runs already`;
    case 'already-starting':
      return `${nameOf(machine)} is starting already${inState(machine)}`;
    case 'kubevirt-starts-it':
      return `KubeVirt starts ${nameOf(machine)} by itself, as its run strategy demands${inState(machine)}`;
  }
}

/** Says why a machine is not started, and what to do. */
export function describeRefusal(machine: WokenMachine, reason: WakeUpRefusalReason): string {
  return `${nameOf(machine)} is not started: ${REFUSALS[reason]}${inState(machine)}`;
}

const REFUSALS: Readonly<Record<WakeUpRefusalReason, string>> = {
  'being-deleted': 'it is being deleted',
  paused: 'it is paused. Set spec.unpause of the WolConfig to true, or continue it with virtctl unpause vm',
  unschedulable: 'it was started before, and no node has room for it. Add a node, or lower its requests',
  'image-or-volume-not-ready': 'its image or a volume is missing or broken. Look at the conditions of the VirtualMachine',
  'crashes-repeatedly': 'it ended with failures several times. Look at the Events of its VirtualMachineInstance',
  'runs-only-once': 'its run strategy is Once, and KubeVirt refuses to start such a machine again. Set another run strategy',
  'receives-a-migration': 'it waits for a machine that migrates from another cluster',
  'state-unknown': 'KubeVirt does not report a state in which it can be started. Look at the log of virt-controller',
  'run-strategy-unknown': 'its run strategy is not known to this version. Set Halted, Manual or RerunOnFailure',
};

/** ` (Stopping)`; empty if the state is not known. */
function inState({ currentState }: WokenMachine): string {
  return currentState === '' ? '' : ` (status ${plain(currentState)})`;
}

/**
 * Says why an address of several machines wakes none, and what to do.
 * @param namespace - readers of this namespace may not know machines of others; undefined: all are named.
 */
export function describeAmbiguity(macAddress: string, keys: readonly string[], namespace?: string): string {
  const named = namespace === undefined ? keys : keys.filter((key) => key.startsWith(`${namespace}/`));
  const others = keys.length - named.length;
  const names = `${describeNames(named)}${others === 0 ? '' : ` and ${others} of other namespaces, which the condition MappingsResolved of the WolConfig names`}`;
  return `${macAddress} is the address of ${keys.length} virtual machines, so none of them is started: ${names}. Change the address of all but one, allow only one of them, or map the address to it in explicitMappings`;
}

/** `VirtualMachine lab/vm-a`. */
export function nameOf({ namespace, name }: Pick<WokenMachine, 'namespace' | 'name'>): string {
  return `VirtualMachine ${namespace}/${name}`;
}

/** Describes the packet, its sender, and the node that received it. */
export function describeReport({ macAddress, sender, nodeName }: WakeReport): string {
  return `Magic packet for ${plain(macAddress)} from ${plain(sender)}, received by node ${plain(nodeName)}`;
}

/** Makes text of a report safe for a message. */
export function plain(text: string): string {
  return /^[\w.:%-]{1,253}$/.test(text) ? text : quote(text);
}
