/**
 * Finds problems of ClusterAgents, HostEndpoints and HostOperations in files: what their schemas refuse, what the controller and
 * the agents would report, and conflicts between them.
 */
import {
  type ClusterAgentSettings,
  clusterAgentOf,
  clusterAgentSecretProblems,
  type HostProblem,
  hostEndpointProblems,
  hostEndpointSecretProblems,
  readClusterAgent,
} from '@vmdhcp/bare-metal';
import { findSharedUnderlays, readHostWorkload } from '@vmdhcp/bare-metal/controller';
import type { UnknownField } from '@vmdhcp/ippool-api';
import { parseBareMetalObject } from '@vmdhcp/ippool-api/bare-metal';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { AdmissionProblem } from '@vmdhcp/reconciler';
import { toFieldProblem } from './to-field-problem.js';

export interface BareMetalReview {
  readonly problems: readonly AdmissionProblem[];
  readonly warnings: readonly (AdmissionProblem | UnknownField)[];
}

/** All objects of bare-metal hosts in the files. */
export interface BareMetalFacts {
  /** By the name of a ClusterAgent, what it has in common with another one. */
  readonly shared: ReadonlyMap<string, string>;
  readonly clusterAgents: readonly string[];
  /** By the name of a ClusterAgent. */
  readonly networks: ReadonlyMap<string, ClusterAgentSettings>;
  /** By ClusterAgent and address, the name of the first HostEndpoint. */
  readonly addresses: ReadonlyMap<string, string>;
}

/** @param namespace - the namespace of agents, for a NetworkAttachmentDefinition without one. */
export function bareMetalFacts(objects: readonly KubernetesObject[], namespace: string): BareMetalFacts {
  const agents = objects.filter(({ kind }) => kind === 'ClusterAgent');
  const clusterAgents = agents.map(({ metadata }) => metadata.name);
  const addresses = new Map<string, string>();
  for (const endpoint of objects.filter(({ kind }) => kind === 'HostEndpoint')) {
    const key = addressKey(endpoint, clusterAgents);
    if (key !== undefined && !addresses.has(key)) addresses.set(key, endpoint.metadata.name);
  }
  const networks = new Map(agents.map((one) => [one.metadata.name, readClusterAgent(one)]));
  return { shared: findSharedUnderlays(agents.map(readHostWorkload), namespace), clusterAgents, networks, addresses };
}

/** All problems: those of the schema first; of several about one field, only the first is reported. */
export function reviewBareMetal(object: KubernetesObject, facts: BareMetalFacts): BareMetalReview {
  const { status: _, ...written } = object;
  const parsed = parseBareMetalObject(written);
  const found = [...ownProblems(object, facts), ...problemsAmong(object, facts)];
  const others = found.map(({ path, message, remedy }) => toFieldProblem(object, path, { message, remedy }));
  const problems = [...(parsed.ok ? [] : parsed.problems), ...others];
  return { problems, warnings: [...parsed.unknownFields.map(withPlace), ...warningsOf(object, facts)] };
}

const INTERFACE = 'dhcpServerInterface';

/** This field is often written one level too high: its name is right, so say where it belongs. */
function withPlace(field: UnknownField): UnknownField {
  if (field.path.join('.') !== `spec.feature.${INTERFACE}`) return field;
  return { ...field, remedy: `move it to spec.feature.dhcpServerConfig.${INTERFACE}`, suggestion: INTERFACE };
}

function ownProblems(object: KubernetesObject, { clusterAgents, networks }: BareMetalFacts): readonly HostProblem[] {
  if (object.kind === 'ClusterAgent') return [...readHostWorkload(object).problems, ...clusterAgentSecretProblems(object)];
  if (object.kind !== 'HostEndpoint') return [];
  const agent = networks.get(clusterAgentOf(object, clusterAgents) ?? '');
  return [...hostEndpointProblems(object, agent), ...(agent === undefined ? [] : hostEndpointSecretProblems(object, agent))];
}

type Found = Pick<HostProblem, 'path' | 'message' | 'remedy'>;

function problemsAmong(object: KubernetesObject, facts: BareMetalFacts): readonly Found[] {
  if (object.kind === 'ClusterAgent') return sharedProblems(object, facts);
  return object.kind === 'HostEndpoint' ? addressProblems(object, facts) : [];
}

function sharedProblems({ metadata: { name } }: KubernetesObject, { shared }: BareMetalFacts): readonly Found[] {
  const text = shared.get(name);
  if (text === undefined) return [];
  const [message = '', remedy = ''] = text.split('; ', 2);
  return [{ path: ['spec', 'feature', 'dhcpServerConfig'], message, remedy }];
}

function addressProblems(endpoint: KubernetesObject, { addresses, clusterAgents }: BareMetalFacts): readonly Found[] {
  const first = addresses.get(addressKey(endpoint, clusterAgents) ?? '') ?? endpoint.metadata.name;
  if (first === endpoint.metadata.name) return [];
  return [{ path: ['spec', 'ipAddr'], message: `HostEndpoint ${first} has this address too`, remedy: 'remove one of the two' }];
}

/** The cluster may have what the files lack. */
function warningsOf(object: KubernetesObject, { clusterAgents }: BareMetalFacts): readonly AdmissionProblem[] {
  const isKnown = clusterAgents.length === 0 || clusterAgentOf(object, clusterAgents) !== undefined;
  if (object.kind !== 'HostEndpoint' || isKnown) return [];
  const named = readText(object.spec, 'clusterAgent');
  const message = named
    ? `the files have no ClusterAgent ${named}`
    : `is missing, and the files have ${clusterAgents.length} ClusterAgents`;
  return [toFieldProblem(object, ['spec', 'clusterAgent'], { message, remedy: `write one of ${clusterAgents.join(', ')}` })];
}

function addressKey(endpoint: KubernetesObject, clusterAgents: readonly string[]): string | undefined {
  const address = readText(endpoint.spec, 'ipAddr');
  const agent = clusterAgentOf(endpoint, clusterAgents) ?? readText(endpoint.spec, 'clusterAgent');
  return address === undefined || agent === undefined ? undefined : `${agent} ${address.trim().toLowerCase()}`;
}
