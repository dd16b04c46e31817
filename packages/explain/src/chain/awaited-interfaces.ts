import { isBeingDeleted, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { reachableInterfaces, readRememberedInterfaces } from '@vmdhcp/reconciler/readers';

/** An interface that gets an address as soon as its MAC address is known. */
export interface AwaitedInterface {
  readonly name: string;
  /** `namespace/name`. */
  readonly network: string;
}

/**
 * The interfaces of a virtual machine that wait for their MAC address, according to the virtual machine and its
 * VirtualMachineNetworkConfig (undefined if there is none). Never throws.
 */
export function findAwaitedInterfaces(
  virtualMachine: KubernetesObject,
  networkConfig: KubernetesObject | undefined,
): readonly AwaitedInterface[] {
  if (isBeingDeleted(virtualMachine)) return [];
  const known = { remembered: readRememberedInterfaces(networkConfig) };
  const { awaited } = reachableInterfaces(virtualMachine, { known, observed: networkConfig });
  return [...awaited].map(([name, network]) => ({ name, network }));
}
