/** Problems of an IPPool because of other objects: its network, other pools, and addresses of the cluster. */
import { cidrsOverlap, formatIpv4Cidr, formatIpv4Range, mergeRanges, type Pool, subtractRanges } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Prefix } from '@vmdhcp/dhcp-allocator/address';
import { compareByAge, type KubernetesObject, keyOf, readField } from '@vmdhcp/kube-runtime';
import { explainSharedSegment } from '../network/explain-shared-segment.js';
import { judgeNetworkReach } from '../network/interface-reach.js';
import { explainMissingNetwork, findNetworkProblem, networkOfPool } from '../network/network-problem.js';
import {
  areSegmentsApart,
  describeSegment,
  isSameSegment,
  type NetworkSegment,
  readNetworkSegment,
} from '../network/network-segment.js';
import {
  contestedBetween,
  isSameUses,
  NOTHING_USED,
  type OccupiedPool,
  type PoolUses,
  usesOf,
} from '../pool/contested-addresses.js';
import { describeRanges } from '../pool/describe-room.js';
import { sharedRanges } from '../pool/shared-ranges.js';
import type { PoolView } from '../view/pool-views.js';
import { oldestSibling } from '../view/shared-segments.js';
import type { AdmissionFacts } from './admission-facts.js';
import { type AdmissionProblem, type Findings, NOTHING_FOUND } from './admission-review.js';
import { findClusterOverlaps } from './cluster-overlaps.js';

interface Candidate {
  readonly object: KubernetesObject;
  /** Undefined if it has problems of its own. */
  readonly pool: Pool | undefined;
}

const CONFIG = ['spec', 'ipv4Config'];
const NETWORK_NAME = ['spec', 'networkName'];

/** @param before - the pool before this change. */
export function findNeighbours({ object, pool }: Candidate, before: Candidate | undefined, facts: AdmissionFacts): Findings {
  const ofNetwork = findInNetwork(object, facts);
  const reach = findReach(object, facts);
  if (pool === undefined) return { problems: ofNetwork, warnings: reach };
  const shared = findOnSegment({ object, pool }, before, facts);
  return {
    problems: [...ofNetwork, ...findClusterOverlaps(pool, facts.clusterNetworks), ...shared.problems],
    warnings: [...reach, ...shared.warnings, ...findOverlaps(object, pool, facts)],
  };
}

function findInNetwork(object: KubernetesObject, facts: AdmissionFacts): AdmissionProblem[] {
  const network = networkOfPool(object);
  const about = { path: NETWORK_NAME, value: network } as const;
  const problem = findNetworkProblem(object, facts);
  if (problem !== undefined) return [{ ...problem, ...about, ...(network !== '' && DEPENDS_ON_OTHERS) }];
  if (facts.network(network) !== undefined) return [];
  return [{ reason: 'network-missing', ...about, ...explainMissingNetwork(network), ...DEPENDS_ON_OTHERS }];
}

/** Another server answers on the network, or only another one does. */
function findReach(object: KubernetesObject, facts: AdmissionFacts): AdmissionProblem[] {
  const value = networkOfPool(object);
  const network = facts.network(value);
  const reach = network === undefined ? undefined : judgeNetworkReach(network);
  if (reach === undefined || reach.kind === 'served') return [];
  return [{ reason: reach.reason, path: NETWORK_NAME, value, ...reach.explanation, ...DEPENDS_ON_OTHERS }];
}

const DEPENDS_ON_OTHERS = { dependsOnOthers: true } as const;

function findOnSegment(
  { object, pool }: Candidate & { readonly pool: Pool },
  before: Candidate | undefined,
  facts: AdmissionFacts,
): Findings {
  const network = networkOfPool(object);
  const others = [...facts.overlappingPools(network, pool)].filter(({ key }) => key !== keyOf(object));
  const segment = segmentOf(network, facts);
  if (others.length === 0 || segment === undefined) return NOTHING_FOUND;
  const { namespace } = object.metadata;
  const assignments = facts.pool(keyOf(object))?.recorded.assignments ?? [];
  const siblings = findContesting(
    others.filter((other) => other.object.metadata.namespace === namespace),
    { uses: usesOfCandidate({ object, pool }, assignments), usesBefore: usesOfCandidate(before, assignments) },
  );
  const among = siblings.length > 0 ? siblings.map(({ other }) => other) : others;
  const sibling = oldestSibling(
    among.map((other) => other.object),
    namespace,
  );
  const explained = explainSharedSegment(network, { segment: describeSegment(segment), sibling });
  const problem = { ...overlappingField(pool, among), ...explained, ...DEPENDS_ON_OTHERS };
  // A pool of another namespace never causes a refusal: its owner could keep others from creating pools.
  if (siblings.length === 0) return { problems: [], warnings: [{ reason: 'segment-shared', ...problem }] };
  const contested = describeRanges(mergeRanges(siblings.flatMap(({ addresses }) => addresses)));
  const message = `${explained.message}: ${contested}${problem.path.includes('ipv6Config') ? ', by the IPv6 addresses beside them' : ''}`;
  return { problems: [{ reason: 'segment-range-shared', ...problem, message, remedy: APART }], warnings: [] };
}

/** The CIDR that overlaps with another one. */
function overlappingField(pool: Pool, others: readonly PoolView[]): Pick<AdmissionProblem, 'path' | 'value'> {
  const isIpv4 = others.some(({ reading }) => reading.ok && cidrsOverlap(reading.pool.cidr, pool.cidr));
  if (isIpv4 || pool.dhcpv6 === undefined) return { path: [...CONFIG, 'cidr'], value: formatIpv4Cidr(pool.cidr) };
  return { path: ['spec', 'ipv6Config', 'cidr'], value: formatIpv6Prefix(pool.dhcpv6.prefix) };
}

const APART =
  'choose ranges, reservations and servers that are apart, or wait until the machines of the other IPPool have left these addresses';

function isPaused({ spec }: KubernetesObject): boolean {
  return readField(spec, 'paused') === true;
}

/** A pool that is paused uses none: it is looked at when it is to be served again. */
function usesOfCandidate(candidate: Candidate | undefined, assignments: OccupiedPool['assignments']): PoolUses {
  if (candidate?.pool === undefined || isPaused(candidate.object)) return NOTHING_USED;
  return usesOf({ pool: candidate.pool, assignments });
}

/** The pools with which a change makes the pool share addresses, and these. Pools are not looked at if the change leaves its addresses as they are. */
function findContesting(others: readonly PoolView[], { uses, usesBefore }: Record<'uses' | 'usesBefore', PoolUses>) {
  if (isSameUses(uses, usesBefore)) return [];
  return others.flatMap((other) => {
    if (!other.reading.ok) return [];
    const usesOfOther = usesOf({ pool: other.reading.pool, assignments: other.recorded.assignments });
    const addresses = subtractRanges(contestedBetween(uses, usesOfOther), contestedBetween(usesBefore, usesOfOther));
    return addresses.length === 0 ? [] : [{ other, addresses }];
  });
}

/**
 * Pools of other namespaces are left out: users who may not list them must not learn their ranges, and tenants often use the same private addresses
 * on separate networks.
 */
function findOverlaps(object: KubernetesObject, pool: Pool, facts: AdmissionFacts): AdmissionProblem[] {
  const network = networkOfPool(object);
  const segment = segmentOf(network, facts);
  const others = [...facts.poolsInRange(object.metadata.namespace ?? '', pool.range)].filter(
    (other) =>
      other.key !== keyOf(object) &&
      other.network !== network &&
      mayBeOneSegment(segment, segmentOf(other.network, facts)) &&
      other.reading.ok &&
      sharedRanges(pool.ranges, other.reading.pool.ranges).length > 0,
  );
  const [other] = others.toSorted((one, another) => compareByAge(one.object, another.object));
  if (other === undefined || !other.reading.ok) return [];
  const addresses = describeRanges(sharedRanges(pool.ranges, other.reading.pool.ranges));
  const message = `IPPool ${other.key} could lease ${addresses} too, on network ${other.network}, which may be the same segment as ${network}: then two virtual machines could get one address`;
  const remedy =
    'if frames of one network reach the other, choose start and end that do not overlap; if they do not reach it, nothing has to be done';
  const path = [...CONFIG, 'pool'];
  return [{ reason: 'range-overlaps', path, value: formatIpv4Range(pool.range), message, remedy }];
}

function segmentOf(network: string, facts: AdmissionFacts): NetworkSegment | undefined {
  const definition = facts.network(network);
  return definition && readNetworkSegment(definition);
}

/** Networks that are known to be one segment are reported by another rule. */
function mayBeOneSegment(one: NetworkSegment | undefined, other: NetworkSegment | undefined): boolean {
  return one === undefined || other === undefined || !(isSameSegment(one, other) || areSegmentsApart(one, other));
}
