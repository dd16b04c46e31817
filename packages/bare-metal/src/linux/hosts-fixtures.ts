import { type Ipv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';

export const ip = (text: string): Ipv4Address => parseIpv4Address(text) as Ipv4Address;

/** A ClusterAgent `rack` that can be served, with these settings of its DHCP server. */
export function clusterAgent(
  config: Readonly<Record<string, unknown>> = {},
  endpoint: Readonly<Record<string, unknown>> = {},
): KubernetesObject {
  const dhcpServerConfig = {
    ...{ dhcpServerInterface: 'net1', subnet: '10.0.0.0/24', ipRange: '10.0.0.10-10.0.0.19' },
    ...{ gateway: '10.0.0.1', selfIp: '10.0.0.2/24', ...config },
  };
  return {
    apiVersion: 'bmc.spidernet.io/v1beta1',
    kind: 'ClusterAgent',
    metadata: { name: 'rack' },
    spec: { agentYaml: { underlayInterface: 'ns/net' }, endpoint, feature: { dhcpServerConfig } },
  } as KubernetesObject;
}
