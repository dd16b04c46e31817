/** What a ClusterAgent specifies about its agents that affects their pods. */

import { imageProblem } from '@vmdhcp/ippool-api/agent';
import { HOLD_HOST_AGENT_UPGRADE_ANNOTATION } from '@vmdhcp/ippool-api/bare-metal/keys';
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { clusterAgentProblems } from '../check/cluster-agent-problems.js';
import type { HostProblem } from '../object/problem.js';
import { type NodeAffinity, readNodeAffinity } from './node-affinity.js';

/** What a ClusterAgent specifies about the pods of its agents. */
export interface HostWorkload {
  readonly name: string;
  readonly object: KubernetesObject;
  /** `namespace/name` or `name` of the NetworkAttachmentDefinition, or any text for Multus. */
  readonly underlay: string;
  /** The interface of the DHCP server; undefined if none is specified. */
  readonly interfaceName: string | undefined;
  /** Undefined for the image of the controller. */
  readonly image: string | undefined;
  readonly replicas: number;
  readonly nodeName: string | undefined;
  readonly nodeAffinity: NodeAffinity | undefined;
  /** On the network of the node: the interface is one of the node. */
  readonly isOnHostNetwork: boolean;
  /** The agents keep the image that they run. */
  readonly holdsImage: boolean;
  readonly problems: readonly HostProblem[];
  /** False if a problem concerns the pods themselves, so that they are neither created nor changed. */
  readonly isDeployable: boolean;
}

/** Reads whatever is stored: never throws. */
export function readHostWorkload(object: KubernetesObject): HostWorkload {
  const yaml = readField(object.spec, 'agentYaml');
  const replicas = readField(yaml, 'replicas') ?? 1;
  const image = readText(yaml, 'image') || undefined;
  const problems = [...clusterAgentProblems(object), ...imageProblems(image)];
  return {
    name: object.metadata.name,
    object,
    underlay: readText(yaml, 'underlayInterface') ?? '',
    interfaceName: readText(object.spec, 'feature', 'dhcpServerConfig', 'dhcpServerInterface') || undefined,
    image,
    replicas: typeof replicas === 'number' ? replicas : 1,
    nodeName: readText(yaml, 'nodeName') || undefined,
    nodeAffinity: readNodeAffinity(readField(yaml, 'nodeAffinity')),
    isOnHostNetwork: readField(yaml, 'hostNetwork') === true,
    holdsImage: object.metadata.annotations?.[HOLD_HOST_AGENT_UPGRADE_ANNOTATION] !== undefined,
    problems,
    isDeployable: !problems.some(isAboutPods),
  };
}

/** Running agents do not read their image: only the writer of the pods needs a valid one. */
function imageProblems(image: string | undefined): HostProblem[] {
  const problem = imageProblem(image);
  return problem === undefined ? [] : [{ reason: 'not-an-image', path: ['spec', 'agentYaml', 'image'], ...problem }];
}

/** Agents follow the settings of DHCP and of management controllers themselves, and report problems with them. */
function isAboutPods({ path }: HostProblem): boolean {
  return path[0] === 'metadata' || path[1] === 'agentYaml';
}
