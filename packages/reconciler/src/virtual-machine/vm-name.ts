/** The field `spec.vmName` of a VirtualMachineNetworkConfig, which has the name of its virtual machine as its own name, too. */
import { type KubernetesObject, objectNameWithin, readText } from '@vmdhcp/kube-runtime';

/** The maximum length in the CRD; names of objects have up to 253 characters. */
const MOST_CHARACTERS = 64;

/** The name of the virtual machine, or as much of it as fits, and a hash. */
export function toVmName(name: string): string {
  if (name.length <= MOST_CHARACTERS) return name;
  return objectNameWithin(name, { suffix: '', of: name, isAmbiguous: true, most: MOST_CHARACTERS });
}

/** The whole name of the virtual machine that a VirtualMachineNetworkConfig belongs to. */
export function virtualMachineNamedBy({ metadata: { name }, spec }: KubernetesObject): string {
  const vmName = readText(spec, 'vmName') ?? name;
  return vmName === toVmName(name) ? name : vmName;
}
