/** All objects of the agents of bare-metal hosts, from all ClusterAgents and what exists, as a value. */
import { BARE_METAL_GROUP } from '@vmdhcp/ippool-api/bare-metal/keys';
import { MULTUS_NETWORKS_ANNOTATION } from '@vmdhcp/ippool-api/resources';
import {
  chooseHttpPorts,
  compareByAge,
  controllerOf,
  isBeingDeleted,
  isOwnedBy,
  type KubernetesObject,
  type OwnedObjectPlan,
  planOwnedObject,
  readField,
  readList,
  readText,
  readTexts,
  toOwnerReference,
} from '@vmdhcp/kube-runtime';
import { findSharedUnderlays } from './find-shared-underlays.js';
import { type HostAgentParts, NODE_HTTP_PORTS, POD_HTTP_PORT, toHostAgentDeployment } from './host-agent-deployment.js';
import { toHostAgentRights, toSubjects } from './host-agent-rights.js';
import { HOST_AGENTS_BINDING, type HostAgentSettings, hostAgentName } from './host-agent-settings.js';
import { toHostAgentVolume } from './host-agent-volume.js';
import { type HostSecretReference, hostSecretsOf, namesByNamespace } from './host-secrets.js';
import { type HostWorkload, readHostWorkload } from './read-host-workload.js';

export interface HostAgentsObservation {
  /** All of them, also those that are being deleted. */
  readonly clusterAgents: readonly KubernetesObject[];
  readonly endpoints: readonly KubernetesObject[];
  /** `namespace/name` of the Secrets that are labelled as credentials of hosts, in the namespaces that are allowed. */
  readonly credentials: ReadonlySet<string>;
  /** Objects with the label of host agents, of every kind that is planned, and the ClusterRoleBinding of all of them. */
  readonly objects: readonly KubernetesObject[];
}

export type HostAgentWrite = Extract<OwnedObjectPlan, { readonly kind: 'create' | 'patch' | 'delete' }>;

/** The agents of one ClusterAgent. */
export interface HostAgents {
  readonly workload: HostWorkload;
  /** As it is observed; undefined: it does not exist yet. */
  readonly deployment: KubernetesObject | undefined;
  /** How many agents its Deployment should have. */
  readonly replicas: number;
  readonly secrets: readonly HostSecretReference[];
  /** Why it may have no agents: an older ClusterAgent has the same addresses. */
  readonly conflict: string | undefined;
  /** Why fewer agents run than it asks for. */
  readonly limit: string | undefined;
  /** Why an object cannot be as it should be, and what to do. */
  readonly refusals: readonly string[];
}

export interface HostAgentsPlan {
  /** In the order in which they have to be carried out. */
  readonly writes: readonly HostAgentWrite[];
  /** By the name of each ClusterAgent that is not being deleted. */
  readonly agents: ReadonlyMap<string, HostAgents>;
}

/** What ends first frees addresses and ports; rights are there before what needs them. */
const ORDER: readonly HostAgentWrite['kind'][] = ['delete', 'patch', 'create'];

const NOTHING: OwnedObjectPlan = { kind: 'nothing' };

/** The plan for all ClusterAgents at once. After it is carried out, planning again writes nothing. */
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
    // What is there of one that cannot be deployed stays as it is.
    const plans = workload.isDeployable
      ? planObjects({ workload, replicas, httpPort }, { observed, secrets: facts.secrets, credentials, settings })
      : ofClusterAgent(workload, objects).map((object) => ({ identity: identityOf(object), plan: NOTHING }));
    return { facts, plans };
  });
  const binding = planBinding(observed, workloads, settings);
  const plans = [...planned.flatMap((one) => one.plans), binding];
  const surplus = planSurplus(objects, new Set(plans.map(({ identity }) => identity)));
  return {
    writes: toWrites([...surplus, ...plans.map(({ plan }) => plan)]),
    agents: new Map(
      planned.map(({ facts, plans: own }) => {
        const refusals = [...own, binding].flatMap(({ plan }) => (plan.kind === 'refuse' ? [plan.message] : []));
        return [facts.workload.name, { ...facts, deployment: deploymentOf(facts.workload.name), refusals }];
      }),
    ),
  };
}

/** All agents have their rights to kinds without namespaces by one binding, which the chart makes: no controller may create or change others. */
function planBinding(
  observed: ReadonlyMap<string, KubernetesObject>,
  workloads: readonly HostWorkload[],
  { namespace }: HostAgentSettings,
): Planned {
  const identity = `ClusterRoleBinding /${HOST_AGENTS_BINDING}`;
  const object = observed.get(identity);
  if (object === undefined) {
    const message = `ClusterRoleBinding ${HOST_AGENTS_BINDING} does not exist, so that agents have no rights: upgrade the chart with bareMetal.enabled=true, or apply manifests/vmdhcp-bare-metal.yaml of this version`;
    const missing = { kind: 'ClusterRoleBinding', metadata: { name: HOST_AGENTS_BINDING } };
    return { identity, plan: { kind: 'refuse', object: missing, message } };
  }
  // What is there of one that cannot be deployed stays as it is.
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
  const deployment = toHostAgentDeployment({ ...parts, kept: keptAgent(workload, there) }, settings);
  return [...rights, ...(volume === undefined ? [] : [volume]), deployment].map((object) => {
    const identity = identityOf(object);
    return { identity, plan: planObject(workload, object, observed.get(identity)) };
  });
}

function planObject(workload: HostWorkload, object: KubernetesObject, observed: KubernetesObject | undefined): OwnedObjectPlan {
  const ownership = { owner: toOwnerReference(workload.object) };
  if (observed !== undefined && !isBeingDeleted(observed) && !isOwnedBy(observed, ownership) && isOfAnyClusterAgent(observed)) {
    // Of a ClusterAgent of the same name that is gone: its successor has objects of its own. The volume may have leases, and goes by the garbage collector.
    return isDeletable(observed) ? { kind: 'delete', object: observed, isReplaced: true } : NOTHING;
  }
  return planOwnedObject(fitToObserved(object, observed), observed, ownership);
}

/** The size and the class of a volume that exists are those that it was created with. An annotation is removed only where there is one: a server leaves out what is empty. */
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

/** The image that the agents run, with the user that it needs, where it shall be kept. */
function keptAgent({ holdsImage }: HostWorkload, deployment: KubernetesObject | undefined): HostAgentParts['kept'] {
  const [container] = readList(deployment?.spec, 'template', 'spec', 'containers');
  const image = readText(container, 'image');
  if (!holdsImage || image === undefined) return undefined;
  return { image, securityContext: readField(container, 'securityContext') };
}

function nodePorts(
  workloads: readonly HostWorkload[],
  objects: readonly KubernetesObject[],
  deploymentOf: (name: string) => KubernetesObject | undefined,
): ReadonlyMap<string, number> {
  const onNodes = workloads.filter(({ isOnHostNetwork }) => isOnHostNetwork);
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  return chooseHttpPorts(new Map(onNodes.map(({ name }) => [name, deploymentOf(name)])), deployments, NODE_HTTP_PORTS);
}

/** Undefined: as many agents can run as are asked for. */
function describeLimit({ replicas, isOnHostNetwork, nodeName }: HostWorkload, { leases }: HostAgentSettings): string | undefined {
  if (replicas <= 1) return undefined;
  const asked = `spec.agentYaml.replicas is ${replicas}, and one agent runs`;
  if (leases.kind !== 'api') {
    const where = leases.kind === 'pvc' ? 'a volume' : 'a folder of the node';
    return `${asked}: leases are kept in ${where}, which has one writer; write 1, or keep leases in the API server (--bare-metal-leases api)`;
  }
  if (!isOnHostNetwork || nodeName === undefined) return undefined;
  return `${asked}: with hostNetwork, agents of one node would have the same ports; write 1, or remove nodeName`;
}

/** What ClusterAgents left that are gone, and what one no longer needs: the garbage collector is not waited for. */
function planSurplus(objects: readonly KubernetesObject[], wanted: ReadonlySet<string>): readonly OwnedObjectPlan[] {
  const isAgent = ({ kind }: KubernetesObject) => kind === 'Deployment';
  return (
    objects
      .filter((one) => !wanted.has(identityOf(one)) && isOfAnyClusterAgent(one) && isDeletable(one))
      // Agents end before their rights.
      .toSorted((one, other) => Number(isAgent(other)) - Number(isAgent(one)))
      .map((one) => planOwnedObject(undefined, one, { isOwn: () => true }))
  );
}

/** Leases may be in a volume: it goes with its owner. */
function isDeletable({ kind }: KubernetesObject): boolean {
  return kind !== 'PersistentVolumeClaim';
}

function ofClusterAgent({ object }: HostWorkload, objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.filter((one) => controllerOf(one)?.uid === object.metadata.uid);
}

function isOfAnyClusterAgent(object: KubernetesObject): boolean {
  const owner = controllerOf(object);
  return owner?.kind === 'ClusterAgent' && owner.apiVersion.startsWith(`${BARE_METAL_GROUP}/`);
}

function toWrites(plans: readonly OwnedObjectPlan[]): readonly HostAgentWrite[] {
  return ORDER.flatMap((kind) => plans.filter((plan): plan is HostAgentWrite => plan.kind === kind));
}

function identityOf({ kind, metadata: { namespace = '', name } }: KubernetesObject): string {
  return `${kind} ${namespace}/${name}`;
}
