/** IPPools for tests. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';

export interface PoolText {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly range?: Readonly<Record<string, unknown>>;
  readonly allocated?: Readonly<Record<string, unknown>>;
  readonly quarantined?: Readonly<Record<string, unknown>>;
  readonly conditions?: readonly Readonly<Record<string, unknown>>[];
  readonly generation?: number;
  readonly ipv6Config?: Readonly<Record<string, unknown>>;
  readonly paused?: boolean;
}

/** 10.0.0.0/28: server .2, router .1, range .4 to .11. */
export function ipPool(text: PoolText = {}, name = 'net'): KubernetesObject {
  const { config, range, allocated = {}, quarantined, conditions = [], generation = 1, paused, ipv6Config } = text;
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name, uid: `uid-${name}`, generation },
    spec: {
      networkName: 'default/net-1',
      ...(paused !== undefined && { paused }),
      ...(ipv6Config && { ipv6Config }),
      ipv4Config: {
        cidr: '10.0.0.0/28',
        serverIP: '10.0.0.2',
        router: '10.0.0.1',
        pool: { start: '10.0.0.4', end: '10.0.0.11', ...range },
        ...config,
      },
    },
    status: { ipv4: { allocated, used: 0, available: 0, ...(quarantined && { quarantined }) }, conditions },
  };
}

/** `02:00:00:00:00:07` */
export function mac(index: number): string {
  const hex = index.toString(16).padStart(6, '0');
  return `02:00:00:${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}`;
}
