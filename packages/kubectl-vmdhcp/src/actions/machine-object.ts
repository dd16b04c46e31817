/** The virtual machine of a command that writes. */
import { describeMissingRight, type Observed } from '@vmdhcp/explain';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import type { PlannedWrite } from './write-object.js';

/** @throws CommandError if there is none, or it may not be read. */
export function machineOf(observed: Observed, text: string): KubernetesObject {
  if (observed.kind === 'found') return observed.object;
  if (observed.kind === 'refused')
    throw new CommandError(`${describeMissingRight(observed.right)}: ask for the verb get on it`, ExitCode.noPermission);
  throw new CommandError(`there is no VirtualMachine ${text}: kubectl get vm -A`, ExitCode.failed);
}

/** As a command prints it. */
export function shownObject({ metadata }: KubernetesObject): Pick<PlannedWrite, 'object' | 'namespace'> {
  return { object: `virtualmachine.kubevirt.io/${metadata.name}`, namespace: metadata.namespace ?? '' };
}
