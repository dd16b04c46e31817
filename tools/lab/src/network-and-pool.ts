import type { KubernetesObject } from '@vmdhcp/kube-runtime';

/** A NetworkAttachmentDefinition (`namespace/name`), of a cluster network where one is given. */
export function networkAttachment(key: string, clusterNetwork?: string): KubernetesObject {
  const labels = clusterNetwork === undefined ? {} : { labels: { 'network.harvesterhci.io/clusternetwork': clusterNetwork } };
  return {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { ...splitKey(key), ...labels },
    spec: { config: '{}' },
  };
}

export interface IpPoolSettings {
  /** `namespace/name`; by default the network has the name of the pool. */
  readonly network?: string;
  /** What differs from 10.1.0.0/24 with the addresses .10 to .99 and the server .2. */
  readonly ipv4Config?: Readonly<Record<string, unknown>>;
  /** More of the spec, such as `paused`. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** An IPPool (`namespace/name`). */
export function ipPool(
  key: string,
  { network = key, ipv4Config, spec, annotations = {} }: IpPoolSettings = {},
): KubernetesObject {
  const addresses = { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: { start: '10.1.0.10', end: '10.1.0.99' } };
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { ...splitKey(key), annotations },
    spec: { networkName: network, ipv4Config: { ...addresses, ...ipv4Config }, ...spec },
  };
}

function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/', 2);
  return { namespace, name };
}
