/** Observes the objects of both controllers in a cluster. */

import { RegistrationResource } from '@vmdhcp/admission/webhook';
import { AGENT_GROUP_LABEL, toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type KubernetesObject, keyOf, readField } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import { AGENT_SELECTOR, isGoneForGood } from '@vmdhcp/reconciler';
import { listIfServed } from '../cluster/list-if-served.js';
import { CUSTOM_RESOURCES, containsAll, isOfNewerVersion } from '../crds/apply-crds.js';
import type { MigrationObservation, ObservedDefinition, ObservedWorkload } from '../migration-plan/migration-observation.js';
import type { MigratedKind } from '../migration-plan/migration-step.js';
import { isAboutOurKinds, isUpstreamAddOn, roleOf } from '../migration-plan/upstream-objects.js';
import type { MigrationBackup } from './migration-backup.js';

const ADD_ONS: ApiResource = { group: 'harvesterhci.io', version: 'v1beta1', plural: 'addons', namespaced: true };
/** One client for each kind that a migration writes. */
export const MIGRATED_RESOURCES: Readonly<Record<MigratedKind, ApiResource>> = {
  Deployment: Resource.deployments,
  Lease: Resource.leases,
  Addon: ADD_ONS,
  IPPool: Resource.ipPools,
  MutatingWebhookConfiguration: RegistrationResource.MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration: RegistrationResource.ValidatingWebhookConfiguration,
  CustomResourceDefinition: Resource.customResourceDefinitions,
  RoleBinding: Resource.roleBindings,
  Role: Resource.roles,
  ServiceAccount: Resource.serviceAccounts,
};
const OURS = CUSTOM_RESOURCES.map((one) => toCustomResourceDefinition(one) as unknown as KubernetesObject);

/** Lists the input of a migration plan. @param backup - undefined if the file does not exist. */
export async function observeMigration(
  connection: ApiTransport,
  backup: MigrationBackup | undefined,
): Promise<MigrationObservation> {
  const list = (resource: ApiResource) => listIfServed(new ApiObjectClient<KubernetesObject>(connection, resource));
  const ofAgents = (resource: ApiResource) => list({ ...resource, labelSelector: AGENT_SELECTOR });
  const [deployments, addOns, mutating, validating, definitions, pools, agentPods, agentDeployments, agentLeases, ...rights] =
    await Promise.all([
      list(Resource.deployments),
      list(ADD_ONS),
      list(RegistrationResource.MutatingWebhookConfiguration),
      list(RegistrationResource.ValidatingWebhookConfiguration),
      list(Resource.customResourceDefinitions),
      list(Resource.ipPools),
      ofAgents(Resource.pods),
      ofAgents(Resource.deployments),
      ofAgents(Resource.leases),
      ofAgents(Resource.roleBindings),
      ofAgents(Resource.roles),
      ofAgents(Resource.serviceAccounts),
    ]);
  const workloads = await observeWorkloads(deployments, list);
  const known = [...definitions, ...deployments, ...addOns, ...pools, ...agentPods];
  const names = new Set(definitions.map(({ metadata }) => metadata.name));
  return {
    workloads,
    definitions: OURS.flatMap((ours) => observeDefinition(ours, definitions, backup)),
    missingDefinitions: OURS.map(({ metadata }) => metadata.name).filter((name) => !names.has(name)),
    addOns: addOns.filter(isUpstreamAddOn),
    registrations: [...mutating, ...validating].filter(isAboutOurKinds),
    pools,
    agentPods: agentPods.filter((pod) => !isLostAgent(pod, Date.now())),
    agentDeployments,
    agentLeases,
    agentRights: rights.flat(),
    hasBackup: backup !== undefined,
    isForeignBackup: backup !== undefined && !backup.hasOneOf(known),
  };
}

async function observeWorkloads(
  deployments: readonly KubernetesObject[],
  list: (resource: ApiResource) => Promise<KubernetesObject[]>,
): Promise<ObservedWorkload[]> {
  const found = deployments.flatMap((deployment) => {
    const role = roleOf(deployment);
    return role === undefined ? [] : [{ role, deployment }];
  });
  return Promise.all(
    found.map(async ({ role, deployment }) => {
      const pods = await list({
        ...Resource.pods,
        namespace: deployment.metadata.namespace ?? '',
        labelSelector: selectorOf(deployment),
      });
      return { role, deployment, pods: pods.filter((pod) => !isGoneForGood(pod, Date.now())).length };
    }),
  );
}

/** A pod of our agents on a lost node stays in Terminating; nobody waits for it. */
export function isLostAgent(pod: KubernetesObject, nowMs: number): boolean {
  return pod.metadata.labels?.[AGENT_GROUP_LABEL] !== undefined && isGoneForGood(pod, nowMs);
}

function selectorOf({ spec }: KubernetesObject): string {
  const labels = (readField(spec, 'selector', 'matchLabels') ?? {}) as Readonly<Record<string, string>>;
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function observeDefinition(
  ours: KubernetesObject,
  definitions: readonly KubernetesObject[],
  backup: MigrationBackup | undefined,
): ObservedDefinition[] {
  const definition = definitions.find(({ metadata }) => metadata.name === ours.metadata.name);
  if (definition === undefined) return [];
  const backedUp = backup?.definition(ours.metadata.name);
  return [
    {
      definition,
      isOurs: isOfNewerVersion(definition) || containsAll(definition.spec, ours.spec),
      isAsBackedUp: backedUp && JSON.stringify(backedUp.spec) === JSON.stringify(definition.spec),
    },
  ];
}

/** `kind namespace/name`, for people. */
export function describeObject(object: KubernetesObject): string {
  return `${object.kind} ${keyOf(object)}`;
}
