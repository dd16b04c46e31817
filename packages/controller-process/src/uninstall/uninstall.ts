/** Removes the product from a cluster: observes, plans, and carries out one phase after the other. */

import { RegistrationResource, WEBHOOK_LABELS } from '@vmdhcp/admission/webhook';
import { HOST_AGENT_SELECTOR } from '@vmdhcp/bare-metal/controller';
import { describeStaleLease, isStaleLease } from '@vmdhcp/explain';
import {
  AGENT_GROUP_LABEL,
  APPLIED_BY_VERSION_ANNOTATION,
  AUDIT_LABEL,
  type CustomResource,
  MAC_ADDRESS_MEMORY_LABEL,
  MIGRATION_HOLDER,
  toCustomResourceDefinition,
} from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { CONTROLLER_LEASE, Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  describeNames,
  type KubernetesObject,
  keyOf,
  readConditions,
  readField,
  readText,
  type WriteResult,
} from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import { AGENT_SELECTOR } from '@vmdhcp/reconciler';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { WAKE_AGENT_SELECTOR } from '@vmdhcp/wake-on-lan/controller';
import { listIfServed } from '../cluster/list-if-served.js';
import { WAKE_SECRET_LABELS } from '../cluster/wake-secret-labels.js';
import { CUSTOM_RESOURCES, WAKE_ON_LAN_RESOURCES } from '../crds/apply-crds.js';
import {
  hindranceBesideUpstream,
  isUpstreamWanted,
  type JudgedLeader,
  judgeLeader,
  withoutUpstream,
} from '../uninstall-plan/judge-leader.js';
import {
  type Installation,
  type InstalledKind,
  leasesOfOtherAgents,
  planUninstall,
  UNINSTALL_PHASES,
  type UninstallPlan,
  type UninstallStep,
} from '../uninstall-plan/plan-uninstall.js';

export interface UninstallSettings {
  readonly deleteData: boolean;
  readonly dryRun: boolean;
  /** True to skip the checks for a controller that is leader and for agents that it did not deploy. */
  readonly force: boolean;
  /** The time limit of a phase, in milliseconds. */
  readonly timeoutMs: number;
  /** Called before each step. */
  readonly onStep: (step: UninstallStep) => void;
  readonly onProgress: (text: string) => void;
}

const WEBHOOK_SELECTOR = toSelector(WEBHOOK_LABELS);
const SECRETS = { group: '', version: 'v1', plural: 'secrets', namespaced: true } as const;
const RESOURCES: Readonly<Record<InstalledKind, ApiResource>> = {
  deployments: { ...Resource.deployments, labelSelector: AGENT_SELECTOR },
  pods: { ...Resource.pods, labelSelector: AGENT_SELECTOR },
  leases: { ...Resource.leases, labelSelector: AGENT_SELECTOR },
  roleBindings: { ...Resource.roleBindings, labelSelector: AGENT_SELECTOR },
  roles: { ...Resource.roles, labelSelector: AGENT_SELECTOR },
  serviceAccounts: { ...Resource.serviceAccounts, labelSelector: AGENT_SELECTOR },
  controllerLeases: {
    ...Resource.leases,
    namespace: CONTROLLER_LEASE.namespace,
    fieldSelector: `metadata.name=${CONTROLLER_LEASE.name}`,
  },
  mutatingWebhooks: { ...RegistrationResource.MutatingWebhookConfiguration, labelSelector: WEBHOOK_SELECTOR },
  validatingWebhooks: { ...RegistrationResource.ValidatingWebhookConfiguration, labelSelector: WEBHOOK_SELECTOR },
  webhookSecrets: { ...SECRETS, labelSelector: WEBHOOK_SELECTOR },
  memoryConfigMaps: { ...Resource.configMaps, labelSelector: `${MAC_ADDRESS_MEMORY_LABEL}=true` },
  auditRecords: { ...Resource.configMaps, labelSelector: `${AUDIT_LABEL}=true` },
  wakeDaemonSets: { ...Resource.daemonSets, labelSelector: WAKE_AGENT_SELECTOR },
  wakePods: { ...Resource.pods, labelSelector: WAKE_AGENT_SELECTOR },
  wakeSecrets: { ...SECRETS, labelSelector: toSelector(WAKE_SECRET_LABELS) },
  wolConfigs: Resource.wolConfigs,
  hostDeployments: { ...Resource.deployments, labelSelector: HOST_AGENT_SELECTOR },
  hostPods: { ...Resource.pods, labelSelector: HOST_AGENT_SELECTOR },
  hostLeases: { ...Resource.leases, labelSelector: HOST_AGENT_SELECTOR },
  hostRoleBindings: { ...Resource.roleBindings, labelSelector: HOST_AGENT_SELECTOR },
  hostRoles: { ...Resource.roles, labelSelector: HOST_AGENT_SELECTOR },
  hostServiceAccounts: { ...Resource.serviceAccounts, labelSelector: HOST_AGENT_SELECTOR },
  hostClusterRoleBindings: { ...Resource.clusterRoleBindings, labelSelector: HOST_AGENT_SELECTOR },
  hostClusterRoles: { ...Resource.clusterRoles, labelSelector: HOST_AGENT_SELECTOR },
  clusterAgents: Resource.clusterAgents,
  hostEndpoints: Resource.hostEndpoints,
  hostStatuses: Resource.hostStatuses,
  hostOperations: Resource.hostOperations,
  leaseSlices: Resource.leaseSlices,
  ipPools: Resource.ipPools,
  networkConfigs: Resource.networkConfigs,
  networks: Resource.networks,
  customResourceDefinitions: Resource.customResourceDefinitions,
};
const OUR_DEFINITIONS = namesOf(CUSTOM_RESOURCES);
/**
 * Also kinds of kubevirt-wol and spidernet-io/bmc: they are ours if a controller or our chart applied them, and then so are their
 * objects.
 */
const SHARED_DEFINITIONS = namesOf([...WAKE_ON_LAN_RESOURCES, ...bareMetalResources]);
const PART_OF_LABEL = 'app.kubernetes.io/part-of';
/** Objects that end after the deletion of their owner. */
const PODS_OF: Partial<Record<InstalledKind, readonly InstalledKind[]>> = {
  deployments: ['pods'],
  wakeDaemonSets: ['wakePods'],
  hostDeployments: ['hostPods'],
};
const CHECK_MS = 200;
/** The version of each object that was just read. */
const MOST_TRIES = 5;
/** The duration of a controller's Lease that does not specify one: that of Harvester. */
const LEASE_SECONDS = 45;
/**
 * The longest duration of an agent's Lease: `--agent-lease-seconds` and the period of renewals are at most an hour each, and
 * together less than two.
 */
const MOST_LEASE_SECONDS = 7_200;

export class Uninstall {
  readonly #connection: ApiConnection;
  readonly #settings: UninstallSettings;
  /** True if Harvester's controller serves the pools. */
  #isBesideUpstream = false;

  constructor(connection: ApiConnection, settings: UninstallSettings) {
    this.#connection = connection;
    this.#settings = settings;
  }

  /**
   * @returns what was done, or would be. @throws CommandError if a controller or agents of a manifest are running, or something
   * cannot be removed.
   */
  async run(): Promise<UninstallPlan> {
    const { force, dryRun, deleteData, onStep, onProgress } = this.#settings;
    const deployments = await this.#deployments();
    this.#isBesideUpstream = isUpstreamWanted(deployments);
    if (this.#isBesideUpstream)
      onProgress(
        "Harvester's controller serves the pools: its agents, IPPools and VirtualMachineNetworkConfigs stay as they are",
      );
    if (!force) {
      this.#assertNothingBesideUpstream(deployments);
      await this.#assertNoController(deployments);
    }
    const installed = await this.#observe();
    if (!force) await this.#assertNoOtherAgents(leasesOfOtherAgents(installed));
    const plan = planUninstall(installed, deleteData);
    if (!deleteData) this.#warnOfReady(installed);
    for (const phase of UNINSTALL_PHASES) {
      for (const step of plan.phases[phase]) {
        onStep(step);
        if (!dryRun) await this.#take(step);
      }
      if (!dryRun) await this.#waitUntilGone(plan.phases[phase]);
    }
    return plan;
  }

  /** Their conditions are the last ones that a controller wrote. */
  #warnOfReady({ clusterAgents, wolConfigs }: Installation): void {
    const names = [...clusterAgents, ...wolConfigs].filter(isReady).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    if (names.length === 0) return;
    this.#settings.onProgress(`these still show READY True, although no agent runs: ${describeNames(names)}`);
  }

  async #observe(): Promise<Installation> {
    const kinds = Object.keys(RESOURCES) as InstalledKind[];
    const listed = await Promise.all(kinds.map(async (kind) => [kind, await this.#list(kind)] as const));
    const installed = Object.fromEntries(listed) as unknown as Installation;
    const ours = namesOfObjects(installed.customResourceDefinitions);
    const ofOthers = kinds.filter((kind) => SHARED_DEFINITIONS.has(definitionOf(kind)) && !ours.has(definitionOf(kind)));
    const found = { ...installed, ...Object.fromEntries(ofOthers.map((kind) => [kind, []])) };
    return this.#isBesideUpstream ? withoutUpstream(found) : found;
  }

  async #list(kind: InstalledKind): Promise<KubernetesObject[]> {
    const objects = await listIfServed(this.#client(kind));
    return kind === 'customResourceDefinitions' ? objects.filter(isOurDefinition) : objects;
  }

  #client(kind: InstalledKind): ApiObjectClient<KubernetesObject> {
    return new ApiObjectClient<KubernetesObject>(this.#connection, RESOURCES[kind]);
  }

  /** An object that changed meanwhile, for example in a namespace that is being deleted, is read and planned again. */
  async #take(step: UninstallStep, tries = MOST_TRIES): Promise<void> {
    const { object } = step;
    const result = await this.#write(step);
    if (result.ok || result.reason === 'not-found') return;
    if (result.reason === 'conflict' && tries > 1) {
      const again = await this.#planAgain(step);
      if (again !== undefined) await this.#take(again, tries - 1);
      return;
    }
    const remedy = result.reason === 'conflict' ? '; something changed it meanwhile, run the command again' : '';
    throw new CommandError(`${keyOf(object)} (${step.of}): ${result.message}${remedy}`, ExitCode.failed);
  }

  /** Undefined if nothing is left to do. */
  async #planAgain({ kind, of, object }: UninstallStep): Promise<UninstallStep | undefined> {
    const { phases } = planUninstall(await this.#observe(), this.#settings.deleteData);
    const steps = UNINSTALL_PHASES.flatMap((phase) => phases[phase]);
    return steps.find((step) => step.kind === kind && step.of === of && step.object.metadata.uid === object.metadata.uid);
  }

  async #write(step: UninstallStep): Promise<WriteResult<unknown>> {
    const { object } = step;
    const client = this.#client(step.of);
    const key = keyOf(object);
    switch (step.kind) {
      case 'delete':
        return client.delete(key, object.metadata.uid ?? '');
      case 'patch':
        return client.patch({ key, resourceVersion: object.metadata.resourceVersion }, step.patch);
      case 'patch-status':
        // At any version: the previous step may have changed the object.
        return client.patchStatus({ key }, step.patch);
    }
  }

  /** Deleted objects, and the pods of deleted Deployments and DaemonSets. */
  async #waitUntilGone(steps: readonly UninstallStep[]): Promise<void> {
    const { timeoutMs, onProgress } = this.#settings;
    const giveUpAtMs = performance.now() + timeoutMs;
    for (let reported = ''; ; await delay(CHECK_MS)) {
      const left = await this.#leftOf(steps.filter(({ kind }) => kind === 'delete'));
      const text = describeObjects(left);
      if (left.length === 0) return;
      if (performance.now() > giveUpAtMs) {
        const message = `still there after ${timeoutMs / 1000} s: ${text}; look at their finalizers (kubectl get -o yaml), then run the command again`;
        throw new CommandError(message, ExitCode.failed);
      }
      if (text !== reported) onProgress(`waiting until ${text} is deleted`);
      reported = text;
    }
  }

  async #leftOf(deleted: readonly UninstallStep[]): Promise<KubernetesObject[]> {
    const uids = new Set(deleted.map(({ object }) => object.metadata.uid));
    const clusterAgents = new Set(
      deleted.flatMap(({ of, object }) => (of === 'hostDeployments' ? [clusterAgentOf(object)] : [])),
    );
    const groups = new Set(deleted.flatMap(({ of, object }) => (of === 'deployments' ? [object.metadata.name] : [])));
    const kinds = new Set<InstalledKind>(deleted.flatMap(({ of }) => [of, ...(PODS_OF[of] ?? [])]));
    const listed = await Promise.all([...kinds].map((kind) => this.#list(kind)));
    const isPodOf = ({ kind, metadata }: KubernetesObject) =>
      kind === 'Pod' &&
      (groups.has(metadata.labels?.[AGENT_GROUP_LABEL] ?? '') ||
        clusterAgents.has(metadata.labels?.[HOST_AGENT_SELECTOR] ?? 'none') ||
        metadata.ownerReferences?.some(({ uid }) => uids.has(uid)));
    return listed.flat().filter((object) => uids.has(object.metadata.uid) || isPodOf(object));
  }

  /** Without the IPPools, agents would continue to answer from memory. */
  async #assertNoOtherAgents(leases: readonly KubernetesObject[]): Promise<void> {
    const remedy = 'kubectl delete -f manifests/vmdhcp-unified.yaml, or helm uninstall';
    const taken = leases.find((lease) => holderOf(lease) === MIGRATION_HOLDER);
    if (taken !== undefined)
      return this.#refuse(
        `the way back is not complete (it has the Lease ${keyOf(taken)}): run vmdhcp-controller migrate --back again`,
      );
    const agentOf = ({ metadata, spec }: KubernetesObject) => `agent ${metadata.namespace}/${readText(spec, 'holderIdentity')}`;
    for (const lease of leases) {
      const consequence = this.#settings.dryRun
        ? `, and its Deployment is not deleted: delete it first (${remedy})`
        : `: watching Lease ${keyOf(lease)} for ${leaseSecondsOf(lease)} s`;
      this.#settings.onProgress(`${agentOf(lease)} may still serve${consequence}`);
    }
    const renewed = this.#settings.dryRun ? undefined : await this.#findRenewed(leases, 'leases');
    if (renewed === undefined) return;
    const message = `${agentOf(renewed)} is serving (it renews the Lease ${keyOf(renewed)}), and this command does not delete its Deployment; delete it first (${remedy}), then run the command again`;
    throw new CommandError(message, ExitCode.failed);
  }

  /** Watches Leases for as long as their holders may go without renewing them. @returns the first one that is renewed, if any. */
  async #findRenewed(
    leases: readonly KubernetesObject[],
    of: 'leases' | 'controllerLeases',
  ): Promise<KubernetesObject | undefined> {
    const before = new Map(leases.map((lease) => [keyOf(lease), lease]));
    const giveUpAtMs = performance.now() + Math.max(0, ...leases.map(leaseSecondsOf)) * 1000;
    while (performance.now() < giveUpAtMs) {
      await delay(CHECK_MS);
      const unreleased = (await this.#list(of)).filter((lease) => before.has(keyOf(lease)) && holderOf(lease) !== '');
      if (unreleased.length === 0) return undefined;
      const renewed = unreleased.find(
        (lease) => lease.metadata.resourceVersion !== before.get(keyOf(lease))?.metadata.resourceVersion,
      );
      if (renewed !== undefined) return renewed;
    }
    return undefined;
  }

  #assertNothingBesideUpstream(deployments: readonly KubernetesObject[]): void {
    const hindrance = this.#isBesideUpstream ? hindranceBesideUpstream(deployments) : undefined;
    if (hindrance !== undefined) this.#refuse(`Harvester's controller serves the pools, and ${hindrance}`);
  }

  async #assertNoController(deployments: readonly KubernetesObject[]): Promise<void> {
    const [lease] = await this.#list('controllerLeases');
    const holder = holderOf(lease);
    if (lease === undefined || holder === '') return;
    // The clock of this computer is used only for the text: a renewal is detected in the Lease itself.
    const isStale = isStaleLease(lease, Date.now());
    const state = isStale
      ? `the Lease of the controllers ${describeStaleLease(lease, Date.now())}`
      : `a controller (${holder}) may still be leader`;
    if (this.#settings.dryRun) return this.#describeLeader(isStale ? state : undefined, judgeLeader(holder, deployments));
    this.#settings.onProgress(`${state}: watching ${isStale ? 'it' : 'its Lease'} for ${leaseSecondsOf(lease)} s`);
    const renewed = await this.#findRenewed([lease], 'controllerLeases');
    if (renewed === undefined) return;
    const { who, hindrance } = judgeLeader(holderOf(renewed), await this.#deployments());
    if (hindrance === undefined) return;
    const message = `${who} ${holderOf(renewed)} is running (it renews the Lease ${keyOf(renewed)}), and ${hindrance}`;
    throw new CommandError(message, ExitCode.failed);
  }

  /** For a dry run. @param stale - undefined unless the Lease is expired by the clock of this computer. */
  #describeLeader(stale: string | undefined, { who, hindrance }: JudgedLeader): void {
    if (stale !== undefined) this.#settings.onProgress(stale);
    else if (hindrance !== undefined) this.#settings.onProgress(`${who} may still be leader, and ${hindrance}`);
  }

  /** @throws CommandError, unless this is a dry run, which only says it. */
  #refuse(message: string): void {
    if (!this.#settings.dryRun) throw new CommandError(message, ExitCode.failed);
    this.#settings.onProgress(message);
  }

  #deployments(): Promise<KubernetesObject[]> {
    return listIfServed(new ApiObjectClient<KubernetesObject>(this.#connection, Resource.deployments));
  }
}

function clusterAgentOf({ metadata }: KubernetesObject): string {
  return metadata.labels?.[HOST_AGENT_SELECTOR] ?? '';
}

function isOurDefinition({ metadata: { name, annotations = {}, labels = {} } }: KubernetesObject): boolean {
  const isApplied = APPLIED_BY_VERSION_ANNOTATION in annotations || labels[PART_OF_LABEL] === 'vmdhcp';
  return OUR_DEFINITIONS.has(name) || (SHARED_DEFINITIONS.has(name) && isApplied);
}

function isReady({ status }: KubernetesObject): boolean {
  return readConditions(status).some((one) => one.type === 'Ready' && one.status === 'True');
}

function definitionOf(kind: InstalledKind): string {
  const { plural, group } = RESOURCES[kind];
  return `${plural}.${group}`;
}

function namesOf(resources: readonly CustomResource[]): ReadonlySet<string> {
  return namesOfObjects(resources.map((one) => toCustomResourceDefinition(one) as unknown as KubernetesObject));
}

function namesOfObjects(objects: readonly KubernetesObject[]): ReadonlySet<string> {
  return new Set(objects.map(({ metadata }) => metadata.name));
}

function toSelector(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}

function describeObjects(objects: readonly KubernetesObject[]): string {
  const names = objects.slice(0, 3).map((object) => `${object.kind} ${keyOf(object)}`);
  return names.join(', ') + (objects.length > names.length ? ` and ${objects.length - names.length} more` : '');
}

function holderOf(lease: KubernetesObject | undefined): string {
  return readText(lease?.spec, 'holderIdentity') ?? '';
}

function leaseSecondsOf(lease: KubernetesObject): number {
  // Written by an agent.
  return Math.min(Number(readField(lease.spec, 'leaseDurationSeconds') ?? LEASE_SECONDS), MOST_LEASE_SECONDS);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
