/** What a VirtualMachineNetworkConfig's status shall say about its interfaces. */
import { formatIpv4Address, type Ipv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator';
import { VirtualMachineNetworkConfigConditionType } from '@vmdhcp/ippool-api';
import type { MergePatch } from '../machinery/object-client.js';
import { type ConditionState, readConditions, toReason, withConditions } from '../object/conditions.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { readField, readList } from '../object/read-field.js';
import type { InterfaceClaim, NetworkConfigClaims } from './interface-claims.js';

/** How things stand with one interface. */
export type InterfaceOutcome =
  /** Recorded in its pool: the agent may answer. */
  | { readonly kind: 'allocated'; readonly address: Ipv4Address /** It wants another one. */; readonly refusal?: OutcomeProblem }
  /** Its turn has not come. */
  | { readonly kind: 'waiting' }
  | { readonly kind: 'refused'; readonly refusal: OutcomeProblem }
  /** No pool serves its network, as on networks with a DHCP server of their own: of no concern to the other interfaces. */
  | { readonly kind: 'unserved'; readonly network: string };

export interface OutcomeProblem {
  readonly reason: string;
  readonly message: string;
}

export interface NetworkConfigFacts {
  readonly claims: NetworkConfigClaims;
  readonly outcomeOf: (claim: InterfaceClaim) => InterfaceOutcome;
  /** Addresses that its pools still record for it although its spec does not want them any more. */
  readonly stale: readonly StaleAddress[];
  /** It outlives its virtual machine. @see describeMissingVirtualMachine */
  readonly missing?: OutcomeProblem | undefined;
  /** RFC 3339. */
  readonly now: string;
}

export interface StaleAddress {
  readonly network: string;
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
}

export interface NetworkConfigStatusPlan {
  /** For the status subresource; undefined if it already says so. */
  readonly patch: MergePatch | undefined;
  /** Why the virtual machine has not all of its addresses, where that is nothing that only takes its time. */
  readonly problem: OutcomeProblem | undefined;
}

const Type = VirtualMachineNetworkConfigConditionType;

export function planNetworkConfigStatus(object: KubernetesObject, facts: NetworkConfigFacts): NetworkConfigStatusPlan {
  const isPaused = readField(object.spec, 'paused') === true;
  const outcomes = facts.claims.claims.map((claim) => ({ claim, outcome: facts.outcomeOf(claim) }));
  const problem = isPaused ? undefined : firstProblem(facts, outcomes);
  const waits = outcomes.some(({ outcome }) => outcome.kind === 'waiting');
  // Soon there is more to say: one write instead of two.
  if (waits && problem === undefined && facts.stale.length === 0) return { patch: undefined, problem };
  const conditions = [
    ...(isPaused ? PAUSED : [ENABLED]),
    ...(isPaused || (waits && problem === undefined) ? [] : [allocatedState(outcomes, problem, facts.missing)]),
    inSyncState(facts),
  ];
  const entries = isPaused ? pausedEntries(object) : [...facts.stale.map(staleEntry), ...outcomes.map(toEntry)];
  return { patch: statusPatch(object, { entries, conditions, now: facts.now }), problem };
}

const ENABLED: ConditionState = { type: Type.disabled, status: 'False' };
const PAUSED: readonly ConditionState[] = [{ type: Type.disabled, status: 'True' }];

interface ClaimWithOutcome {
  readonly claim: InterfaceClaim;
  readonly outcome: InterfaceOutcome;
}

function firstProblem({ claims: { unreadable } }: NetworkConfigFacts, outcomes: readonly ClaimWithOutcome[]) {
  const [broken] = unreadable;
  if (broken !== undefined) return { reason: broken.reason, message: broken.message };
  const refusals = outcomes.flatMap(({ outcome }) => {
    const refusal = outcome.kind === 'refused' || outcome.kind === 'allocated' ? outcome.refusal : undefined;
    return refusal === undefined ? [] : [refusal];
  });
  // The cause says more than what follows from it.
  const cause = refusals.find(({ reason }) => reason !== 'other-interface-refused') ?? refusals[0];
  if (cause !== undefined) return cause;
  if (outcomes.length === 0) {
    return {
      reason: 'no-interfaces',
      message: 'spec.networkConfigs is empty, so there is nothing to allocate; add an interface',
    };
  }
  return outcomes.every(({ outcome }) => outcome.kind === 'unserved') ? unservedProblem(outcomes) : undefined;
}

function unservedProblem(outcomes: readonly ClaimWithOutcome[]): OutcomeProblem {
  const networks = [...new Set(outcomes.map(({ claim }) => claim.network))].join(', ');
  return { reason: 'no-pool', message: `no IPPool serves ${networks}; create one whose spec.networkName is the network` };
}

function allocatedState(
  outcomes: readonly ClaimWithOutcome[],
  problem: OutcomeProblem | undefined,
  missing: OutcomeProblem | undefined,
): ConditionState {
  const type = Type.allocated;
  if (problem !== undefined) return { type, status: 'False', reason: toReason(problem.reason), message: problem.message };
  if (missing !== undefined) return { type, status: 'True', reason: toReason(missing.reason), message: missing.message };
  const unserved = outcomes.filter(({ outcome }) => outcome.kind === 'unserved').map(({ claim }) => claim.network);
  return {
    type,
    status: 'True',
    ...(unserved.length > 0 && { message: `not served, as they have no IPPool: ${[...new Set(unserved)].join(', ')}` }),
  };
}

function inSyncState({ stale }: NetworkConfigFacts): ConditionState {
  if (stale.length === 0) return { type: Type.inSynced, status: 'True' };
  const addresses = stale.map(({ address }) => formatIpv4Address(address)).join(', ');
  const message = `${addresses} is no longer wanted and is being freed`;
  return { type: Type.inSynced, status: 'False', reason: 'NetworkConfigChanged', message };
}

type StatusEntry = Readonly<Record<string, unknown>>;

/** What an interface had last is remembered while it has nothing: it has it again, if it can. */
function toEntry({ claim: { macAddress, network, previous }, outcome }: ClaimWithOutcome): StatusEntry {
  const address = outcome.kind === 'allocated' ? outcome.address : previous;
  return {
    ...(address !== undefined && { allocatedIPAddress: formatIpv4Address(address) }),
    macAddress,
    networkName: network,
    state: outcome.kind === 'allocated' ? 'Allocated' : 'Pending',
  };
}

function staleEntry({ network, macAddress, address }: StaleAddress): StatusEntry {
  return { allocatedIPAddress: formatIpv4Address(address), macAddress, networkName: network, state: 'Stale' };
}

/** Upstream keeps what a paused object had, so that it has it again afterwards, if it can. */
function pausedEntries({ status }: KubernetesObject): StatusEntry[] {
  return readList(status, 'networkConfigs').map((entry) => ({ ...(entry as StatusEntry), state: 'Pending' }));
}

interface WantedStatus {
  readonly entries: readonly StatusEntry[];
  readonly conditions: readonly ConditionState[];
  readonly now: string;
}

function statusPatch({ status }: KubernetesObject, { entries, conditions, now }: WantedStatus): MergePatch | undefined {
  const before = readConditions(status);
  const after = withConditions(before, conditions, now);
  const conditionsDiffer = JSON.stringify(before) !== JSON.stringify(after);
  const entriesDiffer = describe(readList(status, 'networkConfigs')) !== describe(entries);
  if (!conditionsDiffer && !entriesDiffer) return undefined;
  return {
    status: {
      ...(entriesDiffer && { networkConfigs: entries }),
      ...(conditionsDiffer && { conditions: after }),
    },
  };
}

function describe(entries: readonly unknown[]): string {
  return JSON.stringify(
    entries.map((entry) =>
      ['allocatedIPAddress', 'macAddress', 'networkName', 'state'].map((name) => readField(entry, name) ?? ''),
    ),
  );
}
