/**
 * The one agent Deployment that a chart installs for all pools (topology `unified`): which networks its pods are attached
 * to, and what its agents are told. Nothing else of it is touched: it belongs to the chart.
 */
import type { MergePatch } from '../machinery/object-client.js';
import { compareText, type KubernetesObject } from '../object/kubernetes-object.js';
import { isRecord, readField, readList, readText } from '../object/read-field.js';
import { AGENT_NETWORK_CONFIGS_VARIABLE, type AgentNetworkConfig, IPPOOL_REFS_VARIABLE } from './agent-network-config.js';
import { agentInterfaceName } from './interface-name.js';

/** On the pods: which networks Multus attaches. */
export const MULTUS_NETWORKS_ANNOTATION = 'k8s.v1.cni.cncf.io/networks';

/** A pool that agents are to serve. */
export interface PoolForAgents {
  /** `namespace/name`. */
  readonly key: string;
  /** `namespace/name` of its NetworkAttachmentDefinition. */
  readonly network: string;
  readonly serverIP: string;
  readonly cidr: string;
}

export type AgentDeploymentPlan =
  /** `patch` undefined: it is as it should be. */
  | { readonly ok: true; readonly patch: MergePatch | undefined }
  | { readonly ok: false; readonly reason: 'agent-container-missing'; readonly message: string };

/** What the agents shall be told, sorted by pool. */
export function toAgentNetworkConfigs(pools: readonly PoolForAgents[]): AgentNetworkConfig[] {
  return pools
    .toSorted((one, other) => compareText(one.key, other.key))
    .map(({ key, network, serverIP, cidr }) => ({
      interfaceName: agentInterfaceName(key),
      serverIP,
      cidr,
      ipPoolName: key,
      ipPoolRef: key,
      nadName: network,
    }));
}

/** The networks that an agent Deployment's template tells its agents, by pool; empty where it tells none. */
export function readAgentNetworkConfigs(deployment: KubernetesObject, container: string): Map<string, string> {
  const env = readList(findContainer(deployment, container), 'env');
  const text = env.flatMap((entry) =>
    readText(entry, 'name') === AGENT_NETWORK_CONFIGS_VARIABLE ? (readText(entry, 'value') ?? []) : [],
  )[0];
  try {
    const entries: unknown = JSON.parse(text ?? '[]');
    return new Map(Array.isArray(entries) ? entries.flatMap((entry) => withPool(entry)) : []);
  } catch {
    return new Map();
  }
}

function withPool(entry: unknown): [string, string][] {
  const pool = readText(entry, 'ipPoolRef');
  return pool === undefined ? [] : [[pool, JSON.stringify(entry)]];
}

export function planAgentDeployment(
  deployment: KubernetesObject,
  container: string,
  pools: readonly PoolForAgents[],
): AgentDeploymentPlan {
  const found = findContainer(deployment, container);
  if (found === undefined) {
    const names = containersOf(deployment).map((one) => readText(one, 'name'));
    const message = `Deployment ${deployment.metadata.namespace}/${deployment.metadata.name} has no container '${container}', only ${names.join(', ') || 'none'}; set AGENT_CONTAINER_NAME`;
    return { ok: false, reason: 'agent-container-missing', message };
  }
  const configs = toAgentNetworkConfigs(pools);
  const annotation = configs.map(({ nadName, interfaceName }) => `${nadName}@${interfaceName}`).join(',');
  const wanted = configured(found, configs);
  const containers = containersOf(deployment).map((one) => (one === found ? wanted : one));
  const isAnnotated = (readText(annotationsOf(deployment), MULTUS_NETWORKS_ANNOTATION) ?? '') === annotation;
  const isConfigured = JSON.stringify(wanted) === JSON.stringify(found);
  if (isAnnotated && isConfigured) return { ok: true, patch: undefined };
  const metadata = { annotations: { [MULTUS_NETWORKS_ANNOTATION]: annotation === '' ? null : annotation } };
  const template = { ...(!isAnnotated && { metadata }), ...(!isConfigured && { spec: { containers } }) };
  return { ok: true, patch: { spec: { template } } };
}

/** The container with what the agents are told, and without what agents of earlier versions were told. */
function configured(
  container: Readonly<Record<string, unknown>>,
  configs: readonly AgentNetworkConfig[],
): Readonly<Record<string, unknown>> {
  const values = new Map([
    [AGENT_NETWORK_CONFIGS_VARIABLE, JSON.stringify(configs)],
    [IPPOOL_REFS_VARIABLE, JSON.stringify(configs.map(({ ipPoolRef }) => ipPoolRef))],
  ]);
  const env = readList(container, 'env')
    .filter((entry) => readText(entry, 'name') !== 'IPPOOL_REF')
    .map((entry) => {
      const name = readText(entry, 'name') ?? '';
      const value = values.get(name);
      values.delete(name);
      return value === undefined ? entry : { name, value };
    });
  const added = [...values].map(([name, value]) => ({ name, value }));
  const args = readField(container, 'args');
  return { ...container, ...(Array.isArray(args) && { args: withoutLegacyArguments(args) }), env: [...env, ...added] };
}

const LEGACY_ARGUMENTS = ['--nic', '--server-ip', '--cidr', '--ippool-ref'];

/** `--nic=eth1` is one argument, `--nic eth1` are two. */
function withoutLegacyArguments(args: readonly unknown[]): unknown[] {
  return args.filter((argument, index) => {
    const before = args[index - 1];
    const belongsToLegacy = typeof before === 'string' && LEGACY_ARGUMENTS.includes(before) && !String(argument).startsWith('-');
    return (
      !belongsToLegacy && !LEGACY_ARGUMENTS.some((legacy) => argument === legacy || String(argument).startsWith(`${legacy}=`))
    );
  });
}

function containersOf(deployment: KubernetesObject): readonly unknown[] {
  return readList(deployment.spec, 'template', 'spec', 'containers');
}

function findContainer(deployment: KubernetesObject, name: string): Readonly<Record<string, unknown>> | undefined {
  const found = containersOf(deployment).find((one) => readText(one, 'name') === name);
  return isRecord(found) ? found : undefined;
}

function annotationsOf(deployment: KubernetesObject): unknown {
  return readField(deployment.spec, 'template', 'metadata', 'annotations');
}
