/** Events about HostEndpoints that no agent reports. Each is written when it becomes true, and not again while it stays true. */

import { BARE_METAL_API_VERSION, type HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import { isBeingDeleted, type KubernetesObject, toRegarding } from '@vmdhcp/kube-runtime';
import { clusterAgentOf } from '../check/host-endpoint-problems.js';
import { hostEndpointSecretProblems } from '../check/unnamed-secret.js';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { describeHostProblem } from '../object/problem.js';
import { hostSecretsOf } from '../workload/host-secrets.js';
import { type SecretFacts, secretTexts } from '../workload/secret-texts.js';

type EndpointEvent = HostEventOf<'HostEndpoint'>;

export interface EndpointFacts {
  readonly clusterAgents: readonly KubernetesObject[];
  readonly endpoints: readonly KubernetesObject[];
  readonly secrets: SecretFacts;
}

export class EndpointEvents {
  readonly #record: (regarding: ReturnType<typeof toRegarding>, event: EndpointEvent) => void;
  /** The last Event of each HostEndpoint, by uid. */
  #written = new Map<string, string>();

  constructor(record: (regarding: ReturnType<typeof toRegarding>, event: EndpointEvent) => void) {
    this.#record = record;
  }

  tell(facts: EndpointFacts): void {
    const written = new Map<string, string>();
    for (const endpoint of facts.endpoints) {
      const event = isBeingDeleted(endpoint) ? undefined : eventOf(endpoint, facts);
      if (event === undefined) continue;
      const { uid = endpoint.metadata.name } = endpoint.metadata;
      const text = `${event.reason} ${event.message}`;
      written.set(uid, text);
      if (this.#written.get(uid) === text) continue;
      this.#record({ ...toRegarding(endpoint), apiVersion: BARE_METAL_API_VERSION, kind: 'HostEndpoint' }, event);
    }
    this.#written = written;
  }
}

function eventOf(endpoint: KubernetesObject, { clusterAgents, secrets }: EndpointFacts): EndpointEvent | undefined {
  // If there are ClusterAgents, one of their agents reports it.
  if (clusterAgents.length === 0) {
    const message = 'there is no ClusterAgent: create the one that spec.clusterAgent names';
    return { type: 'Warning', reason: 'ClusterAgentMissing', message };
  }
  const names = clusterAgents.map(({ metadata }) => metadata.name);
  const agentName = clusterAgentOf(endpoint, names);
  const agent = clusterAgents.find(({ metadata }) => metadata.name === agentName);
  if (agent === undefined) return undefined;
  const unnamed = hostEndpointSecretProblems(endpoint, readClusterAgent(agent)).map(describeHostProblem);
  const named = [...hostSecretsOf(clusterAgents, [endpoint]).values()].flat().filter(({ of }) => of === endpoint);
  const texts = [...unnamed, ...named.flatMap((secret) => secretTexts(secret, secrets))];
  if (texts.length === 0) return undefined;
  return { type: 'Warning', reason: 'HostSecretUnusable', message: texts.join('. ') };
}
