import { BARE_METAL_GROUP, BARE_METAL_VERSION } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { ApiResource } from '@vmdhcp/kube-runtime';

const bareMetal = (plural: string): ApiResource => ({
  group: BARE_METAL_GROUP,
  version: BARE_METAL_VERSION,
  plural,
  namespaced: false,
});

/** Where the kinds of bare-metal hosts are. */
export const HostResource = {
  clusterAgents: bareMetal('clusteragents'),
  hostEndpoints: bareMetal('hostendpoints'),
  hostStatuses: bareMetal('hoststatuses'),
  hostOperations: bareMetal('hostoperations'),
} as const;

/** One Secret: the agent has the right to read those that are named, and no others. */
export const secretResource = (namespace: string, name: string): ApiResource => ({
  ...{ group: '', version: 'v1', plural: 'secrets', namespaced: true },
  namespace,
  fieldSelector: `metadata.name=${name}`,
});
