/** Computes the desired status of a VirtualMachineNetworkConfig from its interfaces. */
import { formatIpv4Address, type Ipv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address, type Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import {
  type ConditionOf,
  EXTERNAL_DHCP_ANNOTATION,
  reasonOf,
  VirtualMachineNetworkConfigConditionType,
} from '@vmdhcp/ippool-api';
import {
  describeNames,
  type KubernetesObject,
  type MergePatch,
  readConditions,
  readField,
  readList,
  withConditions,
} from '@vmdhcp/kube-runtime';
import { type Explanation, sentenceOf } from '../explanation.js';
import type { InterfaceClaim, NetworkConfigClaims } from './interface-claims.js';
import type { MissingMachine } from './missing-virtual-machine.js';
import type { RefusalReason } from './refusal-reason.js';

/** The state of one interface. */
export type InterfaceOutcome =
  /** Recorded in its pool: the agent may answer. */
  | {
      readonly kind: 'allocated';
      readonly address: Ipv4Address;
      /** If its pool has IPv6. */
      readonly ipv6Address?: Ipv6Address | undefined;
      /** It has an address, but wants another one. */
      readonly refusal?: OutcomeProblem;
    }
  /** Its turn has not come. `isSoon`: the next plan of its pool decides. */
  | { readonly kind: 'waiting'; readonly isSoon?: true }
  | {
      readonly kind: 'refused';
      readonly refusal: OutcomeProblem;
      /** Its last address is another client's now. */
      readonly isLastTaken?: boolean;
    }
  /** No pool serves its network, which does not affect the other interfaces. */
  | {
      /** External: none should, as the network is annotated as served by another DHCP server. */
      readonly kind: 'unserved' | 'external';
      readonly network: string;
      /** The address that a deleted pool leaves to it. */
      readonly left?: Ipv4Address | undefined;
    };

export interface OutcomeProblem {
  readonly reason: RefusalReason;
  readonly message: string;
}

export interface NetworkConfigFacts {
  readonly claims: NetworkConfigClaims;
  readonly outcomeOf: (claim: InterfaceClaim) => InterfaceOutcome;
  /** Addresses that its pools still record, although its spec no longer wants them. */
  readonly stale: readonly StaleAddress[];
  /** It outlives its virtual machine. @see describeMissingVirtualMachine */
  readonly missing?: MissingMachine | undefined;
  /** RFC 3339. */
  readonly now: string;
}

export interface StaleAddress {
  readonly network: string;
  readonly macAddress: MacAddress;
  readonly address: Ipv4Address;
}

interface NetworkConfigStatusPlan {
  /** A patch of the status subresource; undefined if nothing changes. */
  readonly patch: MergePatch | undefined;
  /** Why the virtual machine lacks addresses, unless it only takes time. */
  readonly problem: OutcomeProblem | undefined;
}

const Type = VirtualMachineNetworkConfigConditionType;

export function planNetworkConfigStatus(object: KubernetesObject, facts: NetworkConfigFacts): NetworkConfigStatusPlan {
  const isPaused = readField(object.spec, 'paused') === true;
  const outcomes = facts.claims.claims.map((claim) => ({ claim, outcome: facts.outcomeOf(claim) }));
  const needed = outcomes.filter(({ claim }) => claim.isLeaving !== true);
  const problem = isPaused ? undefined : (firstProblem(facts, needed) ?? nothingLeft(outcomes));
  const waits = problem === undefined && outcomes.some(isAwaited);
  // Soon there is more to write: make one write instead of two.
  if (waits && !isUrgent(facts, outcomes)) return { patch: undefined, problem };
  const conditions = [
    ...(isPaused ? PAUSED : [ENABLED]),
    ...(isPaused || waits ? [] : [allocatedState(needed, problem, facts.missing)]),
    inSyncState(facts),
  ];
  const entries = isPaused ? pausedEntries(object) : [...facts.stale.map(staleEntry), ...outcomes.map(toEntry)];
  return { patch: statusPatch(object, { entries, conditions, now: facts.now }), problem };
}

/** An interface whose guest leaves its network waits only for the next plan. */
function isAwaited({ claim, outcome }: ClaimWithOutcome): boolean {
  return outcome.kind === 'waiting' && (claim.isLeaving !== true || outcome.isSoon === true);
}

/** Pools wait for these writes. */
function isUrgent({ stale }: NetworkConfigFacts, outcomes: readonly ClaimWithOutcome[]): boolean {
  return stale.length > 0 || outcomes.some(({ outcome }) => leftOf(outcome) !== undefined);
}

const ENABLED: ConditionOf<'VirtualMachineNetworkConfig'> = { type: Type.disabled, status: 'False' };
const PAUSED: readonly ConditionOf<'VirtualMachineNetworkConfig'>[] = [{ type: Type.disabled, status: 'True' }];

interface ClaimWithOutcome {
  readonly claim: InterfaceClaim;
  readonly outcome: InterfaceOutcome;
}

function firstProblem(
  { claims: { claims, unreadable } }: NetworkConfigFacts,
  needed: readonly ClaimWithOutcome[],
): OutcomeProblem | undefined {
  const [broken] = unreadable;
  if (broken !== undefined) return { reason: broken.reason, message: broken.message };
  const refusals = needed.flatMap(({ outcome }) => {
    const refusal = outcome.kind === 'refused' || outcome.kind === 'allocated' ? outcome.refusal : undefined;
    return refusal === undefined ? [] : [refusal];
  });
  // The cause is more useful than its consequence.
  const cause = refusals.find(({ reason }) => reason !== 'other-interface-refused') ?? refusals[0];
  if (cause !== undefined) return cause;
  if (claims.length === 0) {
    return {
      reason: 'no-interfaces',
      message: 'spec.networkConfigs is empty, so there is nothing to allocate; add an interface',
    };
  }
  const unserved = networksWith('unserved', needed);
  const isAnyServed = needed.some(({ outcome }) => outcome.kind !== 'unserved' && outcome.kind !== 'external');
  return isAnyServed || unserved.length === 0 ? undefined : { reason: 'no-pool', message: sentenceOf(explainUnserved(unserved)) };
}

/** The problem of a machine that leaves all of its networks, and has an address on none. */
function nothingLeft(outcomes: readonly ClaimWithOutcome[]): OutcomeProblem | undefined {
  if (!outcomes.every((one) => one.outcome.kind === 'waiting' && !isAwaited(one))) return undefined;
  const message =
    'the virtual machine leaves the networks of spec.networkConfigs, and has no address there; nothing is to be done';
  return { reason: 'no-interfaces', message };
}

/** Each once. */
function networksWith(kind: 'unserved' | 'external', outcomes: readonly ClaimWithOutcome[]): string[] {
  return [...new Set(outcomes.filter(({ outcome }) => outcome.kind === kind).map(({ claim }) => claim.network))];
}

/** @param unserved - networks that no pool serves. */
export function explainUnserved(unserved: readonly string[]): Explanation {
  return {
    message: `no IPPool serves ${describeNames(unserved)}`,
    remedy: `create one in the namespace of the network whose spec.networkName is the network, or annotate the NetworkAttachmentDefinition ${EXTERNAL_DHCP_ANNOTATION}: "true" if another DHCP server serves it`,
  };
}

function allocatedState(
  needed: readonly ClaimWithOutcome[],
  problem: OutcomeProblem | undefined,
  missing: MissingMachine | undefined,
): ConditionOf<'VirtualMachineNetworkConfig'> {
  const type = Type.allocated;
  if (problem !== undefined) return { type, status: 'False', reason: reasonOf(problem.reason), message: problem.message };
  if (missing !== undefined) return { type, status: 'True', reason: reasonOf(missing.reason), message: missing.message };
  const [unserved, external] = [networksWith('unserved', needed), networksWith('external', needed)];
  const messages = [
    ...(unserved.length > 0 ? [`not served, as they have no IPPool: ${describeNames(unserved)}`] : []),
    ...(external.length > 0 ? [`other DHCP servers serve these networks: ${describeNames(external)}`] : []),
  ];
  const isAllExternal = needed.length > 0 && needed.every(({ outcome }) => outcome.kind === 'external');
  return {
    type,
    status: 'True',
    ...(isAllExternal && { reason: 'ExternalDHCP' }),
    ...(messages.length > 0 && { message: messages.join('; ') }),
  };
}

function inSyncState({ stale }: NetworkConfigFacts): ConditionOf<'VirtualMachineNetworkConfig'> {
  if (stale.length === 0) return { type: Type.inSynced, status: 'True' };
  const addresses = describeNames(stale.map(({ address }) => formatIpv4Address(address)));
  const message = `${addresses} is no longer wanted and is being freed`;
  return { type: Type.inSynced, status: 'False', reason: 'NetworkConfigChanged', message };
}

type StatusEntry = Readonly<Record<string, unknown>>;

function leftOf(outcome: InterfaceOutcome): Ipv4Address | undefined {
  return outcome.kind === 'unserved' || outcome.kind === 'external' ? outcome.left : undefined;
}

/**
 * An interface without an address remembers its last one, and gets it again if possible. One that is another client's now is forgotten: if the pool is
 * created again, only that client may get it again.
 */
function toEntry({ claim: { macAddress, network, previous: last }, outcome }: ClaimWithOutcome): StatusEntry {
  const previous = outcome.kind === 'refused' && outcome.isLastTaken === true ? undefined : last;
  const address = outcome.kind === 'allocated' ? outcome.address : (leftOf(outcome) ?? previous);
  const ipv6Address = outcome.kind === 'allocated' ? outcome.ipv6Address : undefined;
  return {
    ...(address !== undefined && { allocatedIPAddress: formatIpv4Address(address) }),
    ...(ipv6Address !== undefined && { allocatedIPv6Address: formatIpv6Address(ipv6Address) }),
    macAddress,
    networkName: network,
    state: outcome.kind === 'allocated' ? 'Allocated' : 'Pending',
  };
}

function staleEntry({ network, macAddress, address }: StaleAddress): StatusEntry {
  return { allocatedIPAddress: formatIpv4Address(address), macAddress, networkName: network, state: 'Stale' };
}

/** Like upstream, a paused object remembers its addresses, and gets them again afterwards if possible. */
function pausedEntries({ status }: KubernetesObject): StatusEntry[] {
  const changed = { allocatedIPv6Address: undefined, state: 'Pending' };
  return readList(status, 'networkConfigs').map((entry) => ({ ...(entry as StatusEntry), ...changed }));
}

interface WantedStatus {
  readonly entries: readonly StatusEntry[];
  readonly conditions: readonly ConditionOf<'VirtualMachineNetworkConfig'>[];
  readonly now: string;
}

function statusPatch({ status, metadata }: KubernetesObject, { entries, conditions, now }: WantedStatus): MergePatch | undefined {
  const entriesDiffer = describe(readList(status, 'networkConfigs')) !== describe(entries);
  const before = readConditions(status);
  const after = withConditions(before, conditions, { now, generation: metadata.generation, isWritten: entriesDiffer });
  const conditionsDiffer = JSON.stringify(before) !== JSON.stringify(after);
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
      ['allocatedIPAddress', 'allocatedIPv6Address', 'macAddress', 'networkName', 'state'].map(
        (name) => readField(entry, name) ?? '',
      ),
    ),
  );
}
