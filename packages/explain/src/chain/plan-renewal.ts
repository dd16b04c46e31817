/**
 * Plans how the link of an interface of a running virtual machine is switched off and on. Most guest operating systems ask for their address again
 * when their link comes back; nothing else makes so many of them ask.
 *
 * Source: KubeVirt user guide, "Interface link state"; KubeVirt 1.5 or newer.
 */
import { type KubernetesObject, keyOf, type MergePatch, readList, readText } from '@vmdhcp/kube-runtime';

const INSTANCE_INTERFACES = ['spec', 'domain', 'devices', 'interfaces'] as const;
const INTERFACES = ['spec', 'template', 'spec', 'domain', 'devices', 'interfaces'] as const;

/** The virtual machine, its instance if it has one, and the name of the interface. */
export interface RenewalRequest {
  readonly virtualMachine: KubernetesObject;
  readonly instance: KubernetesObject | undefined;
  readonly interfaceName: string;
}

/** The patch of the VirtualMachine that switches the link off, or why nobody should. */
export type RenewalPlan =
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'patch'; readonly patch: MergePatch /** To be written again. */; readonly before: string | undefined };

/** Refuses if no guest would notice, or the link was switched off by somebody else, who may have a reason. */
export function planLinkOff({ virtualMachine, instance, interfaceName }: RenewalRequest): RenewalPlan {
  const key = keyOf(virtualMachine);
  const state = interfaceOf(virtualMachine, interfaceName);
  if (state === undefined) {
    const names = readList(virtualMachine, ...INTERFACES).map((one) => readText(one, 'name'));
    const there = names.length === 0 ? 'its template has none' : `it has ${names.join(', ')}`;
    return { kind: 'refused', message: `VirtualMachine ${key} has no interface ${interfaceName}: ${there}` };
  }
  const { before } = state;
  if (before === 'down')
    return {
      kind: 'refused',
      message: `the link of interface ${interfaceName} is off already; to switch it on: ${linkOnCommand(virtualMachine, interfaceName)}`,
    };
  if (before === 'absent')
    return { kind: 'refused', message: `interface ${interfaceName} is being unplugged (its state is absent)` };
  if (!isRunning(instance))
    return { kind: 'refused', message: `VirtualMachine ${key} does not run; its guest asks for its address when it starts` };
  if (!readList(instance, ...INSTANCE_INTERFACES).some((one) => readText(one, 'name') === interfaceName))
    return {
      kind: 'refused',
      message: `VirtualMachine ${key} has run since before it got interface ${interfaceName}; its guest gets that when it is started again, or migrated`,
    };
  return { kind: 'patch', patch: withState(virtualMachine, interfaceName, 'down'), before };
}

/** The patch that switches the link on; undefined if it is not off in the VirtualMachine. @param before - the state that it had. */
export function planLinkOn(
  virtualMachine: KubernetesObject,
  interfaceName: string,
  before: string | undefined,
): MergePatch | undefined {
  return isLinkOff(virtualMachine, interfaceName) ? withState(virtualMachine, interfaceName, before) : undefined;
}

/** True for the instance of a virtual machine whose guest runs. */
export function isRunning(instance: KubernetesObject | undefined): boolean {
  return readText(instance, 'status', 'phase') === 'Running';
}

/** The link as KubeVirt reports it: `up`, `down`, or undefined if it reports none. */
export function reportedLink(instance: KubernetesObject | undefined, interfaceName: string): string | undefined {
  const reported = readList(instance, 'status', 'interfaces').find((one) => readText(one, 'name') === interfaceName);
  return readText(reported, 'linkState');
}

/** True if the link is switched off in the VirtualMachine. */
export function isLinkOff(virtualMachine: KubernetesObject, interfaceName: string): boolean {
  return interfaceOf(virtualMachine, interfaceName)?.before === 'down';
}

/** The command with which a person switches the link on. It changes nothing if the list of interfaces has changed, or the link is on. */
export function linkOnCommand(virtualMachine: KubernetesObject, interfaceName: string): string {
  const { namespace, name } = virtualMachine.metadata;
  const index = readList(virtualMachine, ...INTERFACES).findIndex((one) => readText(one, 'name') === interfaceName);
  const path = `/${INTERFACES.join('/')}/${index}`;
  const patch = [
    { op: 'test', path: `${path}/name`, value: interfaceName },
    { op: 'test', path: `${path}/state`, value: 'down' },
    { op: 'remove', path: `${path}/state` },
  ];
  return `kubectl patch vm -n ${namespace} ${name} --type=json -p '${JSON.stringify(patch)}'`;
}

/** Undefined if there is no such interface. */
function interfaceOf(virtualMachine: KubernetesObject, name: string): { readonly before: string | undefined } | undefined {
  const found = readList(virtualMachine, ...INTERFACES).find((one) => readText(one, 'name') === name);
  return found === undefined ? undefined : { before: readText(found, 'state') };
}

/** A merge patch replaces a list as a whole: the write has to be guarded by the version of the object. */
function withState(virtualMachine: KubernetesObject, name: string, state: string | undefined): MergePatch {
  const interfaces = readList(virtualMachine, ...INTERFACES).map((one) => {
    if (readText(one, 'name') !== name) return one;
    const { state: _, ...others } = one as Readonly<Record<string, unknown>>;
    return { ...others, ...(state !== undefined && { state }) };
  });
  return { spec: { template: { spec: { domain: { devices: { interfaces } } } } } };
}
