/** Whether an uninstallation may go on while a controller is leader: beside Harvester's it may, when nothing of ours runs that would disturb it. */
import { AGENT_GROUP_LABEL, GROUP } from '@vmdhcp/ippool-api';
import { describeNames, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { replicasOf } from '../migration-plan/scale-steps.js';
import { roleOf } from '../migration-plan/upstream-objects.js';
import type { Installation } from './plan-uninstall.js';

/** The definitions that Harvester's controller has too. */
const UPSTREAM_DEFINITIONS: ReadonlySet<string> = new Set([`ippools.${GROUP}`, `virtualmachinenetworkconfigs.${GROUP}`]);

export interface JudgedLeader {
  /** For people. */
  readonly who: string;
  /** What keeps the uninstallation from going on, and what to do, for people. Undefined if the leader may stay. */
  readonly hindrance: string | undefined;
}

/** @param holder - of the Lease of the controllers: the name of its pod, which begins with that of its Deployment. */
export function judgeLeader(holder: string, deployments: readonly KubernetesObject[]): JudgedLeader {
  const ofHolder = deployments.find((one) => roleOf(one) !== undefined && `${holder}-`.startsWith(`${one.metadata.name}-`));
  if (ofHolder !== undefined && roleOf(ofHolder) === 'upstream-controller')
    return { who: "Harvester's controller", hindrance: hindranceBesideUpstream(deployments) };
  const { namespace = 'vm-dhcp-system', name = 'vm-dhcp-controller' } = ofHolder?.metadata ?? {};
  const remedy = `stop it first, for example: kubectl -n ${namespace} delete deployment ${name}`;
  return { who: 'the controller', hindrance: `would create everything again; ${remedy}` };
}

/** True if Harvester's controller runs, or will as soon as it can. Its Lease does not tell: it may be between two leaders. */
export function isUpstreamWanted(deployments: readonly KubernetesObject[]): boolean {
  return deployments.some((one) => roleOf(one) === 'upstream-controller' && replicasOf(one) > 0);
}

/** What of ours keeps an uninstallation beside Harvester's controller from going on, and what to do, for people. */
export function hindranceBesideUpstream(deployments: readonly KubernetesObject[]): string | undefined {
  const agents = deployments.filter(({ metadata }) => metadata.labels?.[AGENT_GROUP_LABEL] !== undefined).map(keyOf);
  if (agents.length > 0)
    return `our agents ${describeNames(agents)} are left: first go all the way back to it with vmdhcp-controller migrate --back`;
  const programs = deployments.filter((one) => (roleOf(one) ?? '').startsWith('own-') && replicasOf(one) > 0).map(keyOf);
  if (programs.length === 0) return undefined;
  return `beside it ${describeNames(programs)} of vmdhcp would create everything again: first remove our chart or manifest (helm uninstall, or kubectl delete -f)`;
}

/** The part of an installation that is ours alone: Harvester's controller goes on with its agents, the pools and what is recorded in them. */
export function withoutUpstream(installed: Installation): Installation {
  const customResourceDefinitions = installed.customResourceDefinitions.filter(
    ({ metadata }) => !UPSTREAM_DEFINITIONS.has(metadata.name),
  );
  const ofUpstream = { pods: [], controllerLeases: [], ipPools: [], networkConfigs: [], networks: [] };
  return { ...installed, ...ofUpstream, customResourceDefinitions };
}
