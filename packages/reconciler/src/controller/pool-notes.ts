/** Warnings about a pool that is nevertheless served: in its condition CacheReady, and as Events. */
import {
  type Assignment,
  formatIpv4Address,
  formatIpv4Cidr,
  type Ipv4Address,
  mayBeKept,
  rangesContain,
} from '@vmdhcp/dhcp-allocator';
import { isReasonAt, type Reason, type ReasonAt, reasonOf, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import { describeNames, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { ClusterNetworks } from '../admission/admission-facts.js';
import { findClusterOverlaps } from '../admission/cluster-overlaps.js';
import type { AssignmentPlan } from '../assignment/plan-assignments.js';
import { sentenceOf } from '../explanation.js';
import { explainSharedSegment, type SharedSegment } from '../network/explain-shared-segment.js';
import { judgeNetworkReach } from '../network/interface-reach.js';
import { describeRanges } from '../pool/describe-room.js';
import type { RecordedAddresses } from '../pool/recorded-addresses.js';
import type { PoolView } from '../view/pool-views.js';

export type CacheReadyReason = ReasonAt<'IPPool CacheReady=True'>;

/** Where the note appears: in the condition and as an Event, or only in one of them if specified. */
export interface PoolNote<Name extends Reason = ReasonAt<'IPPool CacheReady=True'> & ReasonAt<'Warning Event on IPPool'>> {
  readonly reason: Name;
  readonly message: string;
}

export function segmentNote({ network }: PoolView, shared: SharedSegment | undefined): PoolNote[] {
  return shared === undefined ? [] : [{ reason: 'SegmentShared', message: sentenceOf(explainSharedSegment(network, shared)) }];
}

/** Another server answers on the network, or only another one does. @param definition - the NetworkAttachmentDefinition, if it exists. */
export function reachNotes(definition: KubernetesObject | undefined): PoolNote<CacheReadyReason>[] {
  const reach = definition === undefined ? undefined : judgeNetworkReach(definition);
  // The binding of a virtual machine is not known here.
  if (reach === undefined || reach.kind === 'served' || reach.reason === 'binding-not-served') return [];
  return [{ reason: reasonOf(reach.reason), message: sentenceOf(reach.explanation) }];
}

/** The pool is older than the rules of admission: it is served as it is, because its clients have no other. One note for each reason. */
export function clusterNotes({ reading }: PoolView, networks: ClusterNetworks): PoolNote[] {
  if (!reading.ok) return [];
  const found = findClusterOverlaps(reading.pool, networks);
  const reasons = [...new Set(found.map(({ reason }) => reason))];
  return reasons.map((reason) => {
    const sentences = found.filter((one) => one.reason === reason).map(sentenceOf);
    return { reason: reasonOf(reason), message: sentences.slice(0, MOST_NAMES).join('; ') };
  });
}

/**
 * Addresses that stay with their clients although no other client would get them: they are no longer in the range, or they were later excluded or
 * became the router's.
 */
export function keptNotes({ reading, recorded, network }: PoolView, plan: AssignmentPlan): PoolNote[] {
  if (!reading.ok) return [];
  const { ranges } = reading.pool;
  const kept = [...plan.outside].toSorted((one, other) => one - other).flatMap((address) => keptAt(address, { recorded, plan }));
  const outside = kept.filter(({ address }) => !rangesContain(ranges, address));
  const excluded = kept.filter(({ address }) => rangesContain(ranges, address));
  const until = `on network ${network}, and kept as long as their virtual machines claim them`;
  return [
    ...note(
      'AddressOutsideRange',
      outside,
      (names) =>
        `outside spec.ipv4Config.pool (${describeRanges(ranges)}) ${until}: ${names}; to free them, pin other addresses (annotation ${STATIC_IP_ANNOTATION_PREFIX}INTERFACE of the virtual machine) and restart the virtual machines that run, or delete them; to keep them for good, reserve them for their MAC addresses`,
    ),
    ...note(
      'ExcludedAddressInUse',
      excluded,
      (names) =>
        `excluded, or the address of the router, ${until}: ${names}; to free them, pin other addresses (annotation ${STATIC_IP_ANNOTATION_PREFIX}INTERFACE of the virtual machine) and restart the virtual machines that run, or delete them`,
    ),
  ];
}

/** Addresses that the plan frees although their clients want no others: reported once, because they are not recorded afterwards. */
export function lostNote({ reading, recorded, network }: PoolView, plan: AssignmentPlan): PoolNote<'AddressChanged'>[] {
  if (!reading.ok) return [];
  const { pool } = reading;
  // Only clients that may keep their addresses are not planned.
  const lost = [...plan.planned].flatMap((macAddress) => {
    const address = recorded.addressOf.get(macAddress);
    const isLost = address !== undefined && !mayBeKept(pool, address) && plan.owners.has(macAddress);
    return isLost && plan.addressOf.get(macAddress) !== address ? [{ macAddress, address }] : [];
  });
  lost.sort((one, other) => one.address - other.address);
  return note(
    'AddressChanged',
    lost,
    (names) =>
      `not addresses for clients of ${formatIpv4Cidr(pool.cidr)} on network ${network}, since the settings of the pool changed: ${names}; their virtual machines get others: restart those that run, so that they request them`,
  );
}

function note<Name extends Reason>(
  reason: Name,
  assignments: readonly (Assignment & { readonly owner?: string })[],
  describe: (names: string) => string,
): PoolNote<Name>[] {
  if (assignments.length === 0) return [];
  const clients = assignments.map(
    ({ address, macAddress, owner }) =>
      `${formatIpv4Address(address)} (${owner === undefined ? macAddress : `${owner}, ${macAddress}`})`,
  );
  return [{ reason, message: describe(describeNames(clients, { most: MOST_CLIENTS })) }];
}

/** The client that has the address, and keeps it. */
function keptAt(
  address: Ipv4Address,
  { recorded, plan }: { readonly recorded: RecordedAddresses; readonly plan: AssignmentPlan },
) {
  const macAddress = recorded.entryAt(formatIpv4Address(address))?.assignment?.macAddress;
  if (macAddress === undefined || plan.addressOf.get(macAddress) !== address) return [];
  const owner = plan.owners.get(macAddress);
  return [{ macAddress, address, ...(owner !== undefined && { owner }) }];
}

const MOST_NAMES = 3;
/** As many as a condition has room for. */
const MOST_CLIENTS = 10;

/** True for a note that is an Event too. */
export function isEventNote(one: PoolNote<CacheReadyReason>): one is PoolNote {
  return isReasonAt('Warning Event on IPPool', one.reason);
}

/** If there are several, the first gives the reason, and all their messages are joined. */
export function joinNotes(notes: readonly PoolNote<CacheReadyReason>[]): Partial<PoolNote<CacheReadyReason>> {
  const [first] = notes;
  return first === undefined ? {} : { reason: first.reason, message: notes.map(({ message }) => message).join('; ') };
}
