/**
 * Configures the agent Deployment that a chart installs for all pools (topology `unified`): the networks of its pods, and the configured pools.
 * Everything else belongs to the chart and is not changed.
 */
import {
  AGENT_DRY_RUN_VARIABLE,
  AGENT_NETWORK_CONFIGS_VARIABLE,
  type AgentNetworkConfig,
  IPPOOL_REFS_VARIABLE,
} from '@vmdhcp/ippool-api';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import { describeNames, type KubernetesObject, type MergePatch, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { containersOf, findContainer } from './configured-pools.js';
import { type PoolForAgents, toAgentNetworkConfigs, toMultusNetworks } from './pool-for-agents.js';

/** The patch of the Deployment that a chart installed, or why it cannot be used. */
export type UnifiedDeploymentPlan =
  /** `patch` is undefined if it is correct. */
  | { readonly ok: true; readonly patch: MergePatch | undefined }
  | { readonly ok: false; readonly reason: 'agent-container-missing'; readonly message: string };

interface UnifiedAgents {
  readonly pools: readonly PoolForAgents[];
  /** True if they serve nothing. */
  readonly dryRun: boolean;
}

/**
 * The patch after which the agents of a chart's Deployment are configured with exactly these pools. A variable, not an argument, says whether they
 * serve: the arguments belong to the chart, which may want a dry run itself.
 */
export function planUnifiedDeployment(
  deployment: KubernetesObject,
  container: string,
  { pools, dryRun }: UnifiedAgents,
): UnifiedDeploymentPlan {
  const found = findContainer(deployment, container);
  if (found === undefined) {
    const names = containersOf(deployment).map((one) => readText(one, 'name') ?? '');
    const message = `Deployment ${deployment.metadata.namespace}/${deployment.metadata.name} has no container '${container}', only ${describeNames(names) || 'none'}; set AGENT_CONTAINER_NAME`;
    return { ok: false, reason: 'agent-container-missing', message };
  }
  const configs = toAgentNetworkConfigs(pools);
  const annotation = toMultusNetworks(configs);
  const wanted = configured(found, configs, dryRun);
  const containers = containersOf(deployment).map((one) => (one === found ? wanted : one));
  const isAnnotated = (readText(annotationsOf(deployment), MULTUS_NETWORKS_ANNOTATION) ?? '') === annotation;
  const isConfigured = JSON.stringify(wanted) === JSON.stringify(found);
  if (isAnnotated && isConfigured) return { ok: true, patch: undefined };
  const metadata = { annotations: { [MULTUS_NETWORKS_ANNOTATION]: annotation === '' ? null : annotation } };
  const template = { ...(!isAnnotated && { metadata }), ...(!isConfigured && { spec: { containers } }) };
  return { ok: true, patch: { spec: { template } } };
}

/** The container with the configured pools, and without the configuration of earlier versions. */
function configured(
  container: Readonly<Record<string, unknown>>,
  configs: readonly AgentNetworkConfig[],
  dryRun: boolean,
): Readonly<Record<string, unknown>> {
  const values = new Map([
    [AGENT_NETWORK_CONFIGS_VARIABLE, JSON.stringify(configs)],
    [IPPOOL_REFS_VARIABLE, JSON.stringify(configs.map(({ ipPoolRef }) => ipPoolRef))],
    ...(dryRun ? [[AGENT_DRY_RUN_VARIABLE, 'true'] as const] : []),
  ]);
  const gone = ['IPPOOL_REF', ...(dryRun ? [] : [AGENT_DRY_RUN_VARIABLE])];
  const env = readList(container, 'env')
    .filter((entry) => !gone.includes(readText(entry, 'name') ?? ''))
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
    const belongsToLegacy = LEGACY_ARGUMENTS.includes(String(args[index - 1])) && !String(argument).startsWith('-');
    return (
      !belongsToLegacy && !LEGACY_ARGUMENTS.some((legacy) => argument === legacy || String(argument).startsWith(`${legacy}=`))
    );
  });
}

function annotationsOf(deployment: KubernetesObject): unknown {
  return readField(deployment.spec, 'template', 'metadata', 'annotations');
}
