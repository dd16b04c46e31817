import { isBeingDeleted, type KubernetesObject } from '@vmdhcp/kube-runtime';
import { readRememberedInterfaces, wantedInterfaces } from '@vmdhcp/reconciler/readers';

/** An interface that gets an address once its MAC address is known. */
export interface AwaitedInterface {
  readonly name: string;
  /** `namespace/name`. */
  readonly network: string;
}

/**
 * The interfaces of a virtual machine that await their MAC address, as far as the virtual machine and its VirtualMachineNetworkConfig
 * (undefined: there is none) tell. Never throws.
 */
export function findAwaitedInterfaces(
  virtualMachine: KubernetesObject,
  networkConfig: KubernetesObject | undefined,
): readonly AwaitedInterface[] {
  if (isBeingDeleted(virtualMachine)) return [];
  const { awaited } = wantedInterfaces(virtualMachine, { remembered: readRememberedInterfaces(networkConfig) });
  return [...awaited].map(([name, network]) => ({ name, network }));
}
