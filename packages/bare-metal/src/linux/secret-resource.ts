import { Resource } from '@vmdhcp/ippool-api/resources';
import type { ApiResource } from '@vmdhcp/kube-runtime';

/** One Secret: the agent has the right to read only named ones. */
export const secretResource = (namespace: string, name: string): ApiResource => ({
  ...Resource.secrets,
  namespace,
  fieldSelector: `metadata.name=${name}`,
});
