/**
 * Finds hosts that are polled over HTTPS without a Secret. They are still polled, so that an upgrade loses no host that answers;
 * but management controllers tell such a client hardly anything. With `https: false` nothing is missing: a controller without
 * users is polled that way.
 */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { type ClusterAgentSettings, readClusterAgent, readConnection } from '../host/cluster-agent-settings.js';
import type { HostProblem } from '../object/problem.js';
import { readNonEmptyText } from '../object/read-field.js';

const FIELDS = 'secretName and secretNamespace of a Secret with username and password';

/** The Secret that a ClusterAgent lacks for the hosts that it learns from leases; none if it learns no host. */
export function clusterAgentSecretProblems(object: KubernetesObject): HostProblem[] {
  const { enableDhcpServer, enableDhcpDiscovery } = readClusterAgent(object);
  const endpoint = readField(object, 'spec', 'endpoint');
  if (!enableDhcpServer || !enableDhcpDiscovery || !isUnnamed(endpoint)) return [];
  const message = 'is missing, so learned hosts are polled over HTTPS without a password';
  const remedy = `write ${FIELDS}, or enableDhcpDiscovery: false if no host should be polled`;
  return [{ reason: 'secret-missing', path: ['spec', 'endpoint', 'secretName'], message, remedy }];
}

/** The Secret that neither a HostEndpoint nor its ClusterAgent names. */
export function hostEndpointSecretProblems({ spec }: KubernetesObject, agent: ClusterAgentSettings): HostProblem[] {
  if (!isUnnamed(spec) || agent.connection.secretName !== undefined) return [];
  const message = `is missing, and ClusterAgent ${agent.name} names no Secret either, so the host is polled over HTTPS without a password`;
  const remedy = `write ${FIELDS} into spec.endpoint of ClusterAgent ${agent.name}, or delete the HostEndpoint and create it with them`;
  return [{ reason: 'secret-missing', path: ['spec', 'secretName'], message, remedy }];
}

/** Half a Secret is a different problem. */
function isUnnamed(fields: unknown): boolean {
  const isNamed = ['secretName', 'secretNamespace'].some((name) => readNonEmptyText(fields, name) !== undefined);
  return readConnection(fields).https && !isNamed;
}
