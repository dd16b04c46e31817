import { BARE_METAL_API_VERSION } from '@vmdhcp/ippool-api/bare-metal/keys';
import { compareByAge, compareText, type KubernetesObject, type OwnerReference } from '@vmdhcp/kube-runtime';
import { parseHostAddress } from '../check/host-address.js';
import { clusterAgentOf, hostEndpointProblems } from '../check/host-endpoint-problems.js';
import { type ClusterAgentSettings, readConnection } from '../host/cluster-agent-settings.js';
import { hostStatusName } from '../host/host-name.js';
import { addressOctets } from '../host/host-network.js';
import type { HostEvent } from '../object/host-event.js';
import { describeHostProblem } from '../object/problem.js';
import { readNonEmptyText } from '../object/read-field.js';
import type { InventoryFacts } from './inventory-plan.js';
import type { WantedHost } from './wanted-host.js';

export interface WantedEndpoints {
  readonly hosts: readonly WantedHost[];
  readonly problems: readonly HostEvent[];
}

/** The hosts that HostEndpoints name. If several have one address, the oldest gets it. */
export function wantedEndpoints({ endpoints, clusterAgents, clusterAgent }: WantedFacts): WantedEndpoints {
  const problems: HostEvent[] = [];
  const hosts = new Map<string, { readonly host: WantedHost; readonly endpoint: string }>();
  const isFirst = clusterAgents.toSorted(compareText)[0] === clusterAgent.name;
  for (const endpoint of endpoints.toSorted(compareByAge)) {
    const agent = clusterAgentOf(endpoint, clusterAgents);
    if (endpoint.metadata.deletionTimestamp !== undefined) continue;
    // One agent reports it; it does not matter which one.
    if (agent === undefined && isFirst) problems.push(withoutAgent(endpoint, clusterAgents));
    if (agent !== clusterAgent.name) continue;
    const wrong = hostEndpointProblems(endpoint, clusterAgent);
    if (wrong.length > 0) {
      problems.push(invalid(endpoint, wrong.map(describeHostProblem).join('. ')));
      continue;
    }
    const host = toHost(endpoint, clusterAgent);
    // An IPv6 address has many texts.
    const key = String(addressOctets(host.address));
    const other = hosts.get(key);
    if (other === undefined) hosts.set(key, { host, endpoint: endpoint.metadata.name });
    else problems.push(addressTaken(endpoint, host.address, other.endpoint));
  }
  return { hosts: [...hosts.values()].map(({ host }) => host), problems };
}

type WantedFacts = Pick<InventoryFacts, 'clusterAgent' | 'clusterAgents' | 'endpoints'>;

function toHost(endpoint: KubernetesObject, { name, connection }: ClusterAgentSettings): WantedHost {
  const address = parseHostAddress(readNonEmptyText(endpoint, 'spec', 'ipAddr')) ?? '';
  const own = readConnection(endpoint.spec);
  const { secretName, secretNamespace } = own.secretName === undefined ? connection : own;
  return {
    name: hostStatusName(name, address),
    clusterAgent: name,
    address,
    mode: 'hostEndpoint',
    connection: {
      https: own.https,
      port: own.port,
      ...(secretName !== undefined && secretNamespace !== undefined && { secretName, secretNamespace }),
    },
    macAddress: undefined,
    isActive: undefined,
    owner: toOwner(endpoint),
  };
}

function toOwner({ metadata: { name, uid = '' } }: KubernetesObject): OwnerReference {
  return { apiVersion: BARE_METAL_API_VERSION, kind: 'HostEndpoint', name, uid, controller: true, blockOwnerDeletion: true };
}

function regarding({ metadata: { name, uid } }: KubernetesObject) {
  return { kind: 'HostEndpoint', name, uid } as const;
}

function withoutAgent(endpoint: KubernetesObject, names: readonly string[]): HostEvent {
  const written = readNonEmptyText(endpoint, 'spec', 'clusterAgent');
  const what =
    written === undefined
      ? `spec.clusterAgent is missing, and there are ${names.length} ClusterAgents`
      : `the ClusterAgent ${JSON.stringify(written)} does not exist`;
  const remedy = 'create the ClusterAgent, or delete the HostEndpoint and create it again with spec.clusterAgent';
  const message = `${what}: ${remedy}`;
  return { regarding: regarding(endpoint), event: { type: 'Warning', reason: 'ClusterAgentMissing', message } };
}

function invalid(endpoint: KubernetesObject, message: string): HostEvent {
  return { regarding: regarding(endpoint), event: { type: 'Warning', reason: 'HostEndpointInvalid', message } };
}

function addressTaken(endpoint: KubernetesObject, address: string, other: string): HostEvent {
  const message = `the older HostEndpoint ${other} has the address ${address} too: delete one of the two`;
  return { regarding: regarding(endpoint), event: { type: 'Warning', reason: 'HostEndpointAddressTaken', message } };
}
