import type { KubernetesObject } from '@vmdhcp/reconciler';

/** A VirtualMachine with one interface, `default`, on a network (`namespace/name`). */
export function virtualMachine(key: string, macAddress: string, network: string): KubernetesObject {
  const [namespace = '', name = ''] = key.split('/', 2);
  const networks = [{ name: 'default', multus: { networkName: network } }];
  const domain = { devices: { interfaces: [{ name: 'default', macAddress, bridge: {} }] } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace, name },
    spec: { running: true, template: { spec: { domain, networks } } },
  };
}
