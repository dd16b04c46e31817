/** The network on which the agents of a ClusterAgent are. */
import type { HostWorkload } from './read-host-workload.js';

/** Name, or namespace/name, of a NetworkAttachmentDefinition. */
const PLAIN = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?(\/[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/;
/** A valid Linux interface name that the pod does not have already. */
const INTERFACE = /^(?!eth0$|lo$)[^\s/:@,]{1,15}$/;

/** The Multus network selection, with the name of the interface; undefined on the network of the node. */
export function multusNetworks({ underlay, interfaceName, isOnHostNetwork }: HostWorkload): string | undefined {
  if (isOnHostNetwork) return undefined;
  const isNamed = interfaceName !== undefined && INTERFACE.test(interfaceName) && PLAIN.test(underlay);
  // Lists and JSON, which the predecessor passed to Multus unchanged, name their interfaces themselves.
  return isNamed ? `${underlay}@${interfaceName}` : underlay;
}

/** The same text for agents on one network, as far as their objects show it. @param namespace - the namespace of the agents. */
export function networkOf({ underlay, interfaceName, isOnHostNetwork, nodeName }: HostWorkload, namespace: string): string {
  if (isOnHostNetwork) return `interface ${interfaceName ?? ''} of ${nodeName === undefined ? 'the nodes' : `node ${nodeName}`}`;
  const [name = ''] = underlay.split('@', 1);
  return name.includes('/') ? name : `${namespace}/${name}`;
}
