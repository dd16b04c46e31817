import type { KubernetesObject } from '@vmdhcp/kube-runtime';

export interface MachineInterface {
  readonly name: string;
  readonly macAddress: string;
  /** `namespace/name`. */
  readonly network: string;
  /** Default: bridge. */
  readonly binding?: 'bridge' | 'masquerade';
  /** The state of the link. Default: none is written, which means that it is on. */
  readonly state?: 'up' | 'down';
}

/** A VirtualMachine (`namespace/name`) with one interface, `default`, on a network (`namespace/name`). */
export function virtualMachine(key: string, macAddress: string, network: string): KubernetesObject {
  return virtualMachineWith(key, [{ name: 'default', macAddress, network }]);
}

/** A VirtualMachine (`namespace/name`) with these interfaces. */
export function virtualMachineWith(
  key: string,
  interfaces: readonly MachineInterface[],
  annotations: Readonly<Record<string, string>> = {},
): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/', 2);
  const networks = interfaces.map((one) => ({ name: one.name, multus: { networkName: one.network } }));
  const domain = {
    devices: {
      interfaces: interfaces.map(({ name: nic, macAddress, binding = 'bridge', state }) => ({
        ...{ name: nic, macAddress, [binding]: {} },
        ...(state && { state }),
      })),
    },
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace, name, annotations },
    spec: { running: true, template: { spec: { domain, networks } } },
  };
}
