/** The agents of a pool, their leader, and what it reports. */
import {
  AGENT_REPORT_ANNOTATION,
  LEASE_DURATION_ANNOTATION,
  MIGRATION_HOLDER,
  type PoolReport,
  parseAgentReport,
  type ReportedUse,
} from '@vmdhcp/ippool-api/agent';
import { describeCount, describeNames, type KubernetesObject, keyOf, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import { groupOfDeployment } from '@vmdhcp/reconciler/readers';
import { type Finding, finding, type LinkFacts } from './address-chain.js';
import { conditionOf, findingOf } from './chain-conditions.js';
import { type ChainObservation, type Observed, objectOf } from './chain-observation.js';
import { type LinkReading, NOTHING_READ } from './config-links.js';
import type { ChainInterface } from './machine-interfaces.js';
import { REASON_LINKS } from './reasons.js';

/** Reasons of the controller that stay valid when the leader reports that it serves the pool. */
const THOUGH_SERVED: ReadonlySet<string> = new Set(['Lagging', 'NetworkSilent']);
/** The clocks of nodes and of the API server differ; a Lease that expired longer ago than this is not renewed. */
const CLOCK_MARGIN_MS = 30_000;
const DEFAULT_LEASE_SECONDS = 15;

/** True if the Lease has no leader: none holds it, or it expired, with some tolerance. */
export function isStaleLease({ metadata, spec }: KubernetesObject, nowMs: number): boolean {
  if (['', MIGRATION_HOLDER].includes(readText(spec, 'holderIdentity') ?? '')) return true;
  return nowMs - expiryOf({ metadata, spec }) > CLOCK_MARGIN_MS;
}

/** When the Lease expires, in milliseconds since 1970; NaN if its holder does not say when it was renewed. */
export function expiryOf({ metadata, spec }: KubernetesObject): number {
  const seconds = readField(spec, 'leaseDurationSeconds');
  const exactMs = Number(metadata.annotations?.[LEASE_DURATION_ANNOTATION] ?? Number.NaN);
  const durationMs = Number.isFinite(exactMs) ? exactMs : 1000 * (typeof seconds === 'number' ? seconds : DEFAULT_LEASE_SECONDS);
  return parseTime(readText(spec, 'renewTime')) + durationMs;
}

/** Describes the last holder of a stale Lease, for people. */
export function describeStaleLease(lease: KubernetesObject, nowMs: number): string {
  const holder = readText(lease.spec, 'holderIdentity') ?? '';
  if (holder === '') return 'has no holder';
  return `expired ${describeCount(Math.round((nowMs - expiryOf(lease)) / 1000), 'second')} ago; ${holder} was the last to hold it`;
}

export function readAgents(observation: ChainObservation, one: ChainInterface, address: string | undefined): LinkReading {
  const pools = observation.pools.get(one.network);
  const pool = objectOf(pools?.pool);
  if (pool === undefined || pools === undefined) return NOTHING_READ;
  const lease = pools.lease === undefined ? undefined : observation.leases.get(pools.lease);
  const report = reportOf(objectOf(lease), observation.nowMs)?.get(keyOf(pool));
  const conditions = conditionFindings(pool, report);
  const leader = readLeader(observation, pools.lease, keyOf(pool));
  const found = [...conditions, ...leader.findings, ...reportFindings(report, { one, address })];
  return { facts: [groupFacts(pool), ...leader.facts, ...reportFacts(report)], findings: found };
}

function groupFacts({ status }: KubernetesObject): LinkFacts {
  const [namespace, name] = ['namespace', 'name'].map((field) => readText(status, 'agentDeploymentRef', field));
  if (name === undefined) {
    const pod = readText(status, 'agentPodRef', 'name');
    if (pod === undefined) return { link: 'agents', facts: 'the pool names no agents', isAbsent: true };
    return { link: 'agents', facts: `pod ${pod} of an earlier version` };
  }
  return { link: 'agents', object: `Deployment ${namespace ?? ''}/${name}`, facts: 'serves the pool' };
}

/** The leader's own report that it serves the pool is newer than a condition. */
function conditionFindings(pool: KubernetesObject, report: PoolReport | undefined): Finding[] {
  const isServed = report?.serving === true;
  const [registered, agentReady, rogueServer, routerReady] = ['Registered', 'AgentReady', 'RogueServer', 'RouterReady'].map(
    (type) => conditionOf(pool, type),
  );
  const ofNetwork = [
    ...(rogueServer?.status === 'True' ? findingOf(rogueServer, false) : []),
    ...(routerReady?.status === 'False' ? findingOf(routerReady, false) : []),
  ];
  const ofAgents = [registered, agentReady].flatMap((condition) => {
    if (condition === undefined) return [];
    const isTrouble = condition.status !== 'True' && !(isServed && !THOUGH_SERVED.has(condition.reason ?? ''));
    return findingOf(condition, isTrouble);
  });
  // The leader's report about itself is newer than the condition, which was made from an earlier report.
  const isOld = ({ reason }: Finding) =>
    report !== undefined && report.reason !== reason && REASON_LINKS[reason].link === 'report';
  return [...ofNetwork, ...ofAgents.filter((each) => !isOld(each))];
}

function reportOf(lease: KubernetesObject | undefined, nowMs: number): ReadonlyMap<string, PoolReport> | undefined {
  if (lease === undefined || isStaleLease(lease, nowMs)) return undefined;
  return parseAgentReport(lease.metadata.annotations?.[AGENT_REPORT_ANNOTATION]);
}

function readLeader({ leases, nowMs }: ChainObservation, key: string | undefined, poolKey: string): LinkReading {
  const observed = key === undefined ? undefined : leases.get(key);
  if (key === undefined || observed === undefined || observed.kind === 'unread') return NOTHING_READ;
  const link = { link: 'leader', object: `Lease ${nameOfLease(observed, key, poolKey)}` } as const;
  if (observed.kind === 'missing') return { facts: [{ ...link, facts: 'does not exist' }], findings: [finding('NotLeading')] };
  if (observed.kind === 'refused') return { facts: [{ ...link, facts: 'cannot be read', isUnknown: true }], findings: [] };
  const isStale = isStaleLease(observed.object, nowMs);
  const facts = describeHolder(observed.object, isStale, nowMs);
  return { facts: [{ ...link, facts }], findings: isStale ? [finding('NotLeading')] : [] };
}

/** A Lease has the name of its group, like the Deployment, except for the Deployment of a chart. */
function nameOfLease(observed: Observed, deployment: string, poolKey: string): string {
  if (observed.kind === 'found') return keyOf(observed.object);
  const [namespace = '', name = ''] = deployment.split('/', 2);
  return `${namespace}/${groupOfDeployment(name, poolKey)}`;
}

function describeHolder({ spec }: KubernetesObject, isStale: boolean, nowMs: number): string {
  const [holder = ''] = (readText(spec, 'holderIdentity') ?? '').split('_');
  if (holder === '') return 'has no holder';
  if (holder === MIGRATION_HOLDER) return 'keeps the agents from leadership, until vmdhcp-controller migrate is run again';
  return `${holder} ${isStale ? 'has not renewed it' : 'is leader'}, ${ageOf(spec, nowMs)}`;
}

function ageOf(spec: unknown, nowMs: number): string {
  const seconds = Math.max(0, Math.round((nowMs - parseTime(readText(spec, 'renewTime'))) / 1000));
  return Number.isNaN(seconds) ? 'never renewed' : `renewed ${describeCount(seconds, 'second')} ago`;
}

function reportFacts(report: PoolReport | undefined): LinkFacts[] {
  if (report === undefined) return [];
  const version = report.version === undefined ? '' : `, at version ${report.version} of the IPPool`;
  return [{ link: 'report', facts: report.serving ? `clients are answered${version}` : `clients are not answered${version}` }];
}

interface ReportedFor {
  readonly one: ChainInterface;
  readonly address: string | undefined;
}

function reportFindings(report: PoolReport | undefined, { one, address }: ReportedFor): Finding[] {
  if (report === undefined) return [];
  const { serving, reason, message = '', conflicts = [], rogueServers = [] } = report;
  const conflict = conflicts.find((each) => each.macAddress === one.macAddress || each.address === address);
  const rogues = rogueServers.map((each) => `${each.address} (${each.macAddress})`);
  const why = findingOf({ type: 'report', status: 'False', reason: reason ?? 'NotServing', message }, true);
  return [
    ...(serving ? [] : why),
    ...(conflict === undefined ? [] : [finding('AddressConflict', describeConflict(conflict))]),
    ...useFindings(report, one),
    ...(rogues.length === 0 || reason === 'RogueServer'
      ? []
      : [finding('RogueServer', `other DHCP servers: ${describeNames(rogues)}`)]),
  ];
}

function useFindings({ observedUses = [], declinedIpv6 = [] }: PoolReport, one: ChainInterface): Finding[] {
  const uses = observedUses.filter(({ usedBy, assignedTo }) => [usedBy, assignedTo].includes(one.macAddress));
  const declined = declinedIpv6.filter(({ macAddress }) => macAddress === one.macAddress);
  return [
    ...uses.map((use) => finding('UnassignedAddressUsed', describeUse(use, one))),
    ...declined.map(({ address }) => finding('DuplicateAddressDetected', `${address} is in use by another host`)),
  ];
}

function describeUse({ address, usedBy, assignedTo }: ReportedUse, { macAddress }: ChainInterface): string {
  if (usedBy !== macAddress) return `another machine, with MAC address ${usedBy}, uses ${address} too`;
  return `the machine uses ${address}, which is assigned to ${assignedTo ?? 'no client'}`;
}

function describeConflict({
  address,
  usedBy = 'an unknown machine',
}: {
  readonly address: string;
  readonly usedBy?: string;
}): string {
  return `${address} is in use by ${usedBy}`;
}
