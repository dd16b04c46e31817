/** Carries out the actions for agents, with one write for each. */
import {
  AGENT_GROUP_LABEL,
  AGENT_LABEL,
  AGENT_LABEL_VALUE,
  formatRenewPeriodMs,
  formatSuspendedPools,
  RENEW_PERIOD_ANNOTATION,
  SUSPENDED_POOLS_ANNOTATION,
} from '@vmdhcp/ippool-api';
import { CONTROLLER, MANAGED_BY_LABEL } from '@vmdhcp/ippool-api/resources';
import {
  ATTEMPT_SPREAD,
  type KubernetesObject,
  keyOf,
  mostUrgent,
  type ReconcileResult,
  toReconcileResult,
  type WriteResult,
} from '@vmdhcp/kube-runtime';
import type { AgentAction, GroupProblem } from '../agents/agents-plan.js';
import type { RightsAction } from '../agents/plan-group-rights.js';
import { UNIFIED_GROUP } from '../agents/topology.js';
import type { AgentObjectKind, RightsKind } from '../view/agent-resources.js';
import type { AgentClients } from './agents-context.js';

export interface AgentWriterSettings {
  readonly namespace: string;
  readonly clients: AgentClients;
  /** How long an agent that cannot renew its Lease may stay leader. */
  readonly leaseSeconds?: number | undefined;
  /** The answer to a write that happened. */
  readonly onWritten: (kind: AgentObjectKind, object: KubernetesObject) => void;
  /** The server has accepted the deletion, or the object does not exist. @param answer - the current object, if there is one. */
  readonly onDeleted: (kind: AgentObjectKind, object: KubernetesObject, answer: KubernetesObject | undefined) => void;
  /** A Deployment of another owner has the name of a group. */
  readonly onConflict: (group: string, problem: GroupProblem) => void;
  /** A ServiceAccount, Role or RoleBinding of a group could not be written; undefined on success. */
  readonly onRights: (right: KubernetesObject, problem: GroupProblem | undefined) => void;
  readonly onAction?: (action: AgentAction) => void;
}

const PARALLEL_WRITES = 8;
/** The holder of a Lease that replaces a deleted one, because the leader of that one may not know yet. */
const NO_AGENT = 'no-agent_lease-created-again';
/** The minimum, if the agents have no setting for it. */
const LEAST_GUARD_SECONDS = 3;
const RIGHTS_KIND_OF: Readonly<Record<string, RightsKind>> = {
  ServiceAccount: 'serviceAccounts',
  Role: 'roles',
  RoleBinding: 'roleBindings',
};

export class AgentWriter {
  readonly #settings: AgentWriterSettings;

  constructor(settings: AgentWriterSettings) {
    this.#settings = settings;
  }

  /**
   * Writes several at a time. A failure stops only the RoleBinding of its Role. Returns the most urgent result. @throws one of the errors, after all
   * were tried.
   */
  async carryOut(actions: readonly AgentAction[]): Promise<ReconcileResult> {
    let result: ReconcileResult = { kind: 'settled' };
    const failures: unknown[] = [];
    const waiting = toSequences(actions);
    const write = async (): Promise<void> => {
      for (let sequence = waiting.shift(); sequence !== undefined; sequence = waiting.shift()) {
        try {
          for await (const one of this.#applyAll(sequence)) result = mostUrgent(result, one);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_WRITES }, write));
    if (failures.length > 0) throw failures[0];
    return result;
  }

  /** One after the other, until one does not settle. */
  async *#applyAll(sequence: readonly AgentAction[]): AsyncGenerator<ReconcileResult> {
    for (const action of sequence) {
      this.#settings.onAction?.(action);
      const result = await this.#apply(action);
      yield result;
      if (result.kind !== 'settled') return;
    }
  }

  #apply(action: AgentAction): Promise<ReconcileResult> {
    if ('object' in action) return this.#writeRight(action);
    switch (action.kind) {
      case 'create-deployment':
        return this.#create(action);
      case 'patch-deployment':
        return this.#patch(action);
      case 'create-lease':
        return this.#createLease(action);
      case 'suspend':
        return this.#suspend(action);
      case 'set-lease-settings':
        return this.#setLeaseSettings(action);
      case 'delete-deployment':
        return this.#remove('deployments', action.deployment);
      case 'delete-lease':
        return this.#remove('leases', action.lease);
      case 'delete-pod':
        return this.#remove('pods', action.pod);
    }
  }

  async #writeRight(action: RightsAction): Promise<ReconcileResult> {
    const { clients, onRights } = this.#settings;
    const { object } = action;
    const kind = RIGHTS_KIND_OF[object.kind ?? ''];
    const client = kind === undefined ? undefined : clients[kind];
    if (kind === undefined || client === undefined) return { kind: 'settled' };
    if (action.kind === 'delete-right') return this.#remove(kind, object);
    const result = await (action.kind === 'create-right'
      ? client.create(object)
      : client.patch({ key: keyOf(object), resourceVersion: object.metadata.resourceVersion }, action.patch));
    onRights(object, result.ok ? undefined : toRightsProblem(action, result));
    return this.#noted(kind, result);
  }

  async #create({ group, deployment }: Extract<AgentAction, { readonly kind: 'create-deployment' }>): Promise<ReconcileResult> {
    const { clients, onConflict } = this.#settings;
    const result = await clients.deployments.create(deployment);
    if (result.ok || result.reason !== 'already-exists') return this.#noted('deployments', result);
    const { namespace, name } = deployment.metadata;
    const message = `there is a Deployment ${namespace}/${name} without the label ${AGENT_GROUP_LABEL}=${group}: it is not ours, and is left alone; delete it, or create it again with another name`;
    onConflict(group, { reason: 'AgentDeploymentConflict', message });
    return { kind: 'settled' };
  }

  async #patch({
    group,
    deployment,
    patch,
  }: Extract<AgentAction, { readonly kind: 'patch-deployment' }>): Promise<ReconcileResult> {
    const kind = group === UNIFIED_GROUP ? 'unifiedDeployment' : 'deployments';
    const target = { key: keyOf(deployment), resourceVersion: deployment.metadata.resourceVersion };
    return this.#noted(kind, await this.#settings.clients[kind].patch(target, patch));
  }

  async #suspend({ lease, poolKeys }: Extract<AgentAction, { readonly kind: 'suspend' }>): Promise<ReconcileResult> {
    const before = lease.metadata.annotations?.[SUSPENDED_POOLS_ANNOTATION];
    const annotations = { [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys, before) };
    // A plan from an older state of the Lease must not be written: it may be the opposite of the current one.
    const target = { key: keyOf(lease), resourceVersion: lease.metadata.resourceVersion };
    return this.#noted('leases', await this.#settings.clients.leases.patch(target, { metadata: { annotations } }));
  }

  async #createLease({
    group,
    poolKeys,
    isGuarded,
    renewPeriodMs,
    guardPeriodMs = 0,
  }: Extract<AgentAction, { readonly kind: 'create-lease' }>): Promise<ReconcileResult> {
    const { clients, namespace, leaseSeconds = 0 } = this.#settings;
    const annotations = {
      [SUSPENDED_POOLS_ANNOTATION]: formatSuspendedPools(poolKeys),
      ...(renewPeriodMs !== undefined && { [RENEW_PERIOD_ANNOTATION]: formatRenewPeriodMs(renewPeriodMs) }),
    };
    // The name of a group of a previous namespace includes the namespace.
    const [name = '', previousNamespace] = group.split('/', 2).toReversed();
    const labels = { [AGENT_LABEL]: AGENT_LABEL_VALUE, [AGENT_GROUP_LABEL]: name, [MANAGED_BY_LABEL]: CONTROLLER };
    const metadata = { namespace: previousNamespace ?? namespace, name, labels, annotations };
    const leaseDurationSeconds = Math.ceil(
      Math.max(LEAST_GUARD_SECONDS, leaseSeconds) + ((1 + ATTEMPT_SPREAD) * guardPeriodMs) / 1_000,
    );
    const spec = isGuarded ? { holderIdentity: NO_AGENT, leaseDurationSeconds } : {};
    const result = await clients.leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
    return this.#noted('leases', result);
  }

  /** At any version of the Lease, because nothing else depends on these annotations, and the leader renews it all the time. */
  async #setLeaseSettings({
    lease,
    annotations,
  }: Extract<AgentAction, { readonly kind: 'set-lease-settings' }>): Promise<ReconcileResult> {
    return this.#noted('leases', await this.#settings.clients.leases.patch({ key: keyOf(lease) }, { metadata: { annotations } }));
  }

  #noted(kind: AgentObjectKind, result: WriteResult<KubernetesObject>): ReconcileResult {
    if (result.ok) this.#settings.onWritten(kind, result.object);
    return toReconcileResult(result);
  }

  /** Already gone is fine. */
  async #remove(kind: AgentObjectKind, object: KubernetesObject): Promise<ReconcileResult> {
    const { clients, onDeleted } = this.#settings;
    const { uid = '', resourceVersion } = object.metadata;
    // A Lease that was renewed since has a leader; events about it and its pods may be late.
    const result = await clients[kind]?.delete(keyOf(object), uid, kind === 'leases' ? resourceVersion : undefined);
    if (result === undefined) return { kind: 'settled' };
    if (!result.ok && result.reason !== 'not-found') return toReconcileResult(result);
    onDeleted(kind, object, result.ok ? result.object : undefined);
    return { kind: 'settled' };
  }
}

/** A RoleBinding follows its Role, because an API server refuses one without its Role. */
function toSequences(actions: readonly AgentAction[]): AgentAction[][] {
  const byRights = Map.groupBy(actions, (action, index) => rightsOf(action) ?? index);
  return [...byRights.values()].map((sequence) => sequence.toSorted((one, other) => rankOf(one) - rankOf(other)));
}

/** The common name of a Role and its RoleBinding; undefined for other actions. */
function rightsOf(action: AgentAction): string | undefined {
  if (action.kind !== 'create-right' && action.kind !== 'patch-right') return undefined;
  return action.object.kind === 'ServiceAccount' ? undefined : keyOf(action.object);
}

function rankOf(action: AgentAction): number {
  return 'object' in action && action.object.kind === 'RoleBinding' ? 1 : 0;
}

function toRightsProblem(
  { kind, object }: RightsAction,
  { reason, message: refusal }: Extract<WriteResult<unknown>, { readonly ok: false }>,
): GroupProblem | undefined {
  const name = `${object.kind} ${object.metadata.namespace}/${object.metadata.name}`;
  if (kind === 'create-right' && reason === 'already-exists') {
    const message = `there is a ${name} without the label ${AGENT_LABEL}=${AGENT_LABEL_VALUE}: the controller did not create it, and leaves it alone; delete it`;
    return { reason: 'AgentRightsMissing', message };
  }
  // The Role of a binding may have been deleted meanwhile.
  if (kind === 'create-right' && reason === 'parent-not-found' && object.kind !== 'RoleBinding') {
    const message = `${name} cannot be created: ${refusal}; create the namespace (manifests/vmdhcp.yaml), or name another one (--namespace)`;
    return { reason: 'AgentRightsMissing', message };
  }
  if (reason !== 'forbidden' && reason !== 'invalid') return undefined;
  const message = `the API server refused ${name}, which grants the agents their rights: ${refusal}; apply manifests/vmdhcp.yaml, or start the controller with --service-account-name`;
  return { reason: 'AgentRightsMissing', message };
}
