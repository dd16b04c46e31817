/** Plans all objects of the agents of bare-metal hosts, from all ClusterAgents and the existing objects, as a value. */
import { BARE_METAL_GROUP } from '@vmdhcp/ippool-api/bare-metal/keys';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import {
  chooseHttpPorts,
  compareByAge,
  controllerOf,
  isBeingDeleted,
  isOwnedBy,
  isOwnedByKind,
  type KubernetesObject,
  type OwnedObjectPlan,
  type OwnedObjectWrite,
  orderedWrites,
  planOwnedObject,
  planSurplus,
  readField,
  readList,
  readText,
  readTexts,
  runningImageOf,
  toOwnerReference,
} from '@vmdhcp/kube-runtime';
import { findSharedUnderlays } from './find-shared-underlays.js';
import { type HostAgentParts, NODE_HTTP_PORTS, POD_HTTP_PORT, toHostAgentDeployment } from './host-agent-deployment.js';
import { toHostAgentRights, toSubjects } from './host-agent-rights.js';
import { HOST_AGENTS_BINDING, type HostAgentSettings, hostAgentName } from './host-agent-settings.js';
import { toHostAgentVolume } from './host-agent-volume.js';
import { type HostSecretReference, hostSecretsOf, namesByNamespace } from './host-secrets.js';
import { type HostWorkload, readHostWorkload } from './read-host-workload.js';

/** The ClusterAgents, and the objects that their agents have in the cluster. */
export interface HostAgentsObservation {
  /** All ClusterAgents, including those that are being deleted. */
  readonly clusterAgents: readonly KubernetesObject[];
  readonly endpoints: readonly KubernetesObject[];
  /** `namespace/name` of the Secrets that are labelled as credentials of hosts, in the allowed namespaces. */
  readonly credentials: ReadonlySet<string>;
  /** Objects with the label of host agents, of every planned kind, and the ClusterRoleBinding of all of them. */
  readonly objects: readonly KubernetesObject[];
}

/** The agents of one ClusterAgent. */
export interface HostAgents {
  readonly workload: HostWorkload;
  /** As observed; undefined if it does not exist yet. */
  readonly deployment: KubernetesObject | undefined;
  /** How many agents its Deployment should have. */
  readonly replicas: number;
  readonly secrets: readonly HostSecretReference[];
  /** Why it may have no agents: an older ClusterAgent has the same addresses. */
  readonly conflict: string | undefined;
  /** Why fewer agents run than it asks for. */
  readonly limit: string | undefined;
  /** Why an object cannot be in the wanted state, and what to do. */
  readonly refusals: readonly string[];
}

/** What has to be written so that each ClusterAgent has its agents, and the state of each of them. */
export interface HostAgentsPlan {
  /** In the order in which they have to be applied. */
  readonly writes: readonly OwnedObjectWrite[];
  /** By the name of each ClusterAgent that is not being deleted. */
  readonly agents: ReadonlyMap<string, HostAgents>;
}

const OWNER = { group: BARE_METAL_GROUP, kind: 'ClusterAgent' };
const NOTHING: OwnedObjectPlan = { kind: 'nothing' };

/** The plan for all ClusterAgents at once. After it is applied, the next plan writes nothing. */
export function planHostAgents(
  { clusterAgents, endpoints, credentials, objects }: HostAgentsObservation,
  settings: HostAgentSettings,
): HostAgentsPlan {
  const live = clusterAgents.filter((one) => !isBeingDeleted(one)).toSorted(compareByAge);
  const workloads = live.map(readHostWorkload);
  const conflicts = findSharedUnderlays(workloads, settings.namespace);
  const secrets = hostSecretsOf(live, endpoints);
  const observed = new Map(objects.map((object) => [identityOf(object), object]));
  const deploymentOf = (name: string) => observed.get(`Deployment ${settings.namespace}/${hostAgentName(name)}`);
  const ports = nodePorts(workloads, objects, deploymentOf);
  const planned = workloads.map((workload) => {
    const conflict = conflicts.get(workload.name);
    const limit = describeLimit(workload, settings);
    const replicas = conflict === undefined ? Math.min(workload.replicas, limit === undefined ? workload.replicas : 1) : 0;
    const httpPort = ports.get(workload.name) ?? POD_HTTP_PORT;
    const facts = { workload, replicas, conflict, limit, secrets: secrets.get(workload.name) ?? [] };
    // Existing objects of a ClusterAgent that cannot be deployed stay unchanged.
    const plans = workload.isDeployable
      ? planObjects({ workload, replicas, httpPort }, { observed, secrets: facts.secrets, credentials, settings })
      : ofClusterAgent(workload, objects).map((object) => ({ identity: identityOf(object), plan: NOTHING }));
    return { facts, plans };
  });
  const binding = planBinding(observed, workloads, settings);
  const plans = [...planned.flatMap((one) => one.plans), binding];
  const surplus = planLeftovers(objects, new Set(plans.map(({ identity }) => identity)));
  return {
    writes: orderedWrites([...surplus, ...plans.map(({ plan }) => plan)]),
    agents: new Map(
      planned.map(({ facts, plans: own }) => {
        const refusals = [...own, binding].flatMap(({ plan }) => (plan.kind === 'refuse' ? [plan.message] : []));
        return [facts.workload.name, { ...facts, deployment: deploymentOf(facts.workload.name), refusals }];
      }),
    ),
  };
}

/**
 * All agents get their rights to kinds without namespaces from one binding, which the chart creates: no controller may create or
 * change others.
 */
function planBinding(
  observed: ReadonlyMap<string, KubernetesObject>,
  workloads: readonly HostWorkload[],
  { namespace }: HostAgentSettings,
): Planned {
  const identity = `ClusterRoleBinding /${HOST_AGENTS_BINDING}`;
  const object = observed.get(identity);
  if (object === undefined) {
    const message = `ClusterRoleBinding ${HOST_AGENTS_BINDING} does not exist, so agents have no rights: upgrade the chart with bareMetal.enabled=true, or apply manifests/vmdhcp-bare-metal.yaml of this version`;
    const missing = { kind: 'ClusterRoleBinding', metadata: { name: HOST_AGENTS_BINDING } };
    return { identity, plan: { kind: 'refuse', object: missing, message } };
  }
  // Existing objects of a ClusterAgent that cannot be deployed stay unchanged.
  const isThere = (name: string) => observed.has(`ServiceAccount ${namespace}/${hostAgentName(name)}`);
  const names = workloads.filter(({ name, isDeployable }) => isDeployable || isThere(name)).map(({ name }) => name);
  const subjects = toSubjects(names, namespace);
  const isSame = JSON.stringify(readList(object, 'subjects').map(toSubject)) === JSON.stringify(subjects.map(toSubject));
  return { identity, plan: isSame ? NOTHING : { kind: 'patch', object, patch: { subjects } } };
}

/** Without the fields that an API server fills in, and in one order. */
function toSubject(subject: unknown): readonly unknown[] {
  return ['kind', 'namespace', 'name'].map((field) => readField(subject, field));
}

interface Planned {
  readonly identity: string;
  readonly plan: OwnedObjectPlan;
}

interface PlanContext {
  readonly observed: ReadonlyMap<string, KubernetesObject>;
  readonly secrets: readonly HostSecretReference[];
  readonly credentials: ReadonlySet<string>;
  readonly settings: HostAgentSettings;
}

function planObjects(parts: HostAgentParts, { observed, secrets, credentials, settings }: PlanContext): readonly Planned[] {
  const { workload } = parts;
  const { namespace, leases } = settings;
  const named = namesByNamespace(secrets, (key) => credentials.has(key));
  const rights = toHostAgentRights({ workload, namespace, secrets: named, hasLeaseSlices: leases.kind === 'api' });
  const volume = toHostAgentVolume(workload, settings);
  const there = observed.get(`Deployment ${namespace}/${hostAgentName(workload.name)}`);
  const deployment = toHostAgentDeployment({ ...parts, kept: workload.holdsImage ? runningImageOf(there) : undefined }, settings);
  return [...rights, ...(volume === undefined ? [] : [volume]), deployment].map((object) => {
    const identity = identityOf(object);
    return { identity, plan: planObject(workload, object, observed.get(identity)) };
  });
}

function planObject(workload: HostWorkload, object: KubernetesObject, observed: KubernetesObject | undefined): OwnedObjectPlan {
  const ownership = { owner: toOwnerReference(workload.object) };
  if (observed !== undefined && !isBeingDeleted(observed) && !isOwnedBy(observed, ownership) && isOwnedByKind(observed, OWNER)) {
    // Leftovers of a deleted ClusterAgent with the same name: its successor has its own objects. The volume may have leases, and
    // is left to the garbage collector.
    return isDeletable(observed) ? { kind: 'delete', object: observed, isReplaced: true } : NOTHING;
  }
  return planOwnedObject(fitToObserved(object, observed), observed, ownership);
}

/** An existing volume keeps its size and class. An annotation is removed only if it exists: a server omits empty fields. */
function fitToObserved(object: KubernetesObject, observed: KubernetesObject | undefined): KubernetesObject {
  if (object.kind === 'PersistentVolumeClaim' && observed !== undefined) {
    const { spec: _, ...rest } = object;
    return rest;
  }
  if (object.kind !== 'Deployment' || Object.keys(readTexts(observed?.spec, ...ANNOTATIONS)).length > 0) return object;
  const spec = object.spec as { readonly template: { readonly metadata: object } };
  const annotations = readText(spec, 'template', 'metadata', 'annotations', MULTUS_NETWORKS_ANNOTATION);
  if (annotations !== undefined) return object;
  const { template } = spec;
  return { ...object, spec: { ...spec, template: { ...template, metadata: { ...template.metadata, annotations: undefined } } } };
}

const ANNOTATIONS = ['template', 'metadata', 'annotations'] as const;

function nodePorts(
  workloads: readonly HostWorkload[],
  objects: readonly KubernetesObject[],
  deploymentOf: (name: string) => KubernetesObject | undefined,
): ReadonlyMap<string, number> {
  const onNodes = workloads.filter(({ isOnHostNetwork }) => isOnHostNetwork);
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  return chooseHttpPorts(new Map(onNodes.map(({ name }) => [name, deploymentOf(name)])), deployments, NODE_HTTP_PORTS);
}

/** Undefined if all requested agents can run. */
function describeLimit({ replicas, isOnHostNetwork, nodeName }: HostWorkload, { leases }: HostAgentSettings): string | undefined {
  if (replicas <= 1) return undefined;
  const asked = `spec.agentYaml.replicas is ${replicas}, but only one agent runs`;
  if (leases.kind !== 'api') {
    const where = leases.kind === 'pvc' ? 'a volume' : 'a folder of the node';
    return `${asked}: leases are kept in ${where}, which has one writer; write 1, or keep leases in the API server (--bare-metal-leases api)`;
  }
  if (!isOnHostNetwork || nodeName === undefined) return undefined;
  return `${asked}: with hostNetwork, agents of one node would have the same ports; write 1, or remove nodeName`;
}

/** Deletes what is left of deleted ClusterAgents, and objects that are no longer needed. */
function planLeftovers(objects: readonly KubernetesObject[], wanted: ReadonlySet<string>): readonly OwnedObjectPlan[] {
  const isAgent = ({ kind }: KubernetesObject) => kind === 'Deployment';
  const surplus = objects.filter((one) => !wanted.has(identityOf(one)) && isOwnedByKind(one, OWNER) && isDeletable(one));
  // Agents end before their rights.
  return planSurplus(surplus.toSorted((one, other) => Number(isAgent(other)) - Number(isAgent(one))));
}

/** Leases may be in a volume: it is deleted with its owner. */
function isDeletable({ kind }: KubernetesObject): boolean {
  return kind !== 'PersistentVolumeClaim';
}

function ofClusterAgent({ object }: HostWorkload, objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.filter((one) => controllerOf(one)?.uid === object.metadata.uid);
}

function identityOf({ kind, metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${kind} ${namespace}/${name}`;
}
