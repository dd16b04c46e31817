/**
 * What the leader of a group of agents reports on each of its pools: an annotation of the Lease by which it is leader, so that heartbeat
 * and report are one request, and the status of an IPPool has one writer.
 */
import { isReasonAt, type ReasonAt } from '../reasons.js';
import { IPV4_ADDRESS, IPV6_ADDRESS, MAC_ADDRESS, textOfFormat } from '../text-formats.js';
import { cutText, octetsOf } from './cut-text.js';
import { fieldsOf, itemsOf, parseJson, textOf } from './read-json.js';

/** Reasons for a suspended pool: its agents are removing the server address, or have removed it and could serve at once. */
export const DRAINING = 'Draining' as const satisfies ReasonAt<'agent report'>;
/** The reason of a pool whose agents answer nothing for now. */
export const SUSPENDED = 'Suspended' as const satisfies ReasonAt<'agent report'>;

/** What a leader reports about one of its pools. */
export interface PoolReport {
  /** True if clients of this pool are answered. */
  readonly serving: boolean;
  /** If it is not served: the reason, and a message. */
  readonly reason?: ReasonAt<'agent report'>;
  readonly message?: string;
  /** The resourceVersion of the IPPool that the agent serves. */
  readonly version?: string;
  /** Addresses of clients that another host uses. */
  readonly conflicts?: readonly ReportedConflict[];
  /** Hosts that use addresses which are not assigned to them. */
  readonly observedUses?: readonly ReportedUse[];
  /** Other DHCP servers on the network; absent if the agent has not looked for them yet. */
  readonly rogueServers?: readonly RogueServer[];
  /** The IPv6 routers of the network; absent if they are not known, or too many. */
  readonly routers?: readonly ReportedRouter[];
  /** IPv6 addresses that their machines declined, because other hosts use them. */
  readonly declinedIpv6?: readonly DeclinedIpv6[];
  /** For how many minutes the agent has reached no machine of the network; absent if the network is not silent. */
  readonly silentMinutes?: number;
}

/** An address that a leader found in use by another machine. */
export interface ReportedConflict {
  /** An IPv4 address. */
  readonly address: string;
  /** The MAC address of the client that the address is assigned to. */
  readonly macAddress: string;
  /** The MAC address of the host that uses it; absent if only the client reported the conflict (DHCPDECLINE). */
  readonly usedBy?: string;
}

/** A host that uses an address which is not assigned to it. */
export interface ReportedUse {
  /** An IPv4 address. */
  readonly address: string;
  /** The MAC address of the host that uses it. */
  readonly usedBy: string;
  /** The MAC address of the client that the address is assigned to; absent if it is assigned to none. */
  readonly assignedTo?: string;
}

/** A DHCP server that answers on a network beside this one. */
export interface RogueServer {
  /** An IPv4 address. */
  readonly address: string;
  readonly macAddress: string;
}

/** A host that sends IPv6 Router Advertisements. */
export interface ReportedRouter {
  /** An IPv6 address of the link. */
  readonly address: string;
  readonly macAddress: string;
  /** True if it offers to be a default router. */
  readonly isDefaultRouter: boolean;
  /** True if it tells hosts to ask for addresses by DHCPv6 (M). */
  readonly isManaged: boolean;
}

/** An IPv6 address that its machine declined. */
export interface DeclinedIpv6 {
  readonly address: string;
  /** The MAC address of the machine that the address is assigned to. */
  readonly macAddress: string;
}

/** By the `namespace/name` of a pool. */
export type AgentReport = ReadonlyMap<string, PoolReport>;

/**
 * The maximum size of a report, in octets: half of the API server's limit for all annotations of an object. The rest is for suspended pools, which
 * the Lease names twice.
 */
export const MOST_REPORT_OCTETS = 131_072;

/** The maximum number of routers in the report on a pool: with more, there is no list. */
export const MOST_ROUTERS = 16;
/** The maximum number of declined addresses in the report on a pool. */
export const MOST_DECLINED_IPV6 = 64;

/** How many of each pool's details go into a report. */
interface Detail {
  /** In octets; 0 for no message. */
  readonly message: number;
  readonly conflicts: number;
  readonly observedUses: number;
  readonly rogueServers: number;
  readonly routers: number;
  readonly declinedIpv6: number;
}

/**
 * From most to least detail: the first fills a condition of an IPPool. Messages are cut first, as they are for people. Conflicts come last: the
 * controller quarantines those that it reads, and then they make room for others.
 */
const DETAILS: readonly Detail[] = [
  { message: 1_024, conflicts: 256, observedUses: 64, rogueServers: 16, routers: MOST_ROUTERS, declinedIpv6: MOST_DECLINED_IPV6 },
  { message: 240, conflicts: 256, observedUses: 16, rogueServers: 4, routers: MOST_ROUTERS, declinedIpv6: 16 },
  { message: 80, conflicts: 64, observedUses: 4, rogueServers: 1, routers: MOST_ROUTERS, declinedIpv6: 4 },
  { message: 0, conflicts: 16, observedUses: 2, rogueServers: 1, routers: 0, declinedIpv6: 0 },
  { message: 0, conflicts: 2, observedUses: 0, rogueServers: 1, routers: 0, declinedIpv6: 0 },
  { message: 0, conflicts: 0, observedUses: 0, rogueServers: 0, routers: 0, declinedIpv6: 0 },
];

/** `{"address":"10.0.0.9","macAddress":"02:00:00:00:00:01"}` and a comma. */
const LEAST_CONFLICT_OCTETS = 56;

/**
 * The text of the annotation: at most `MOST_REPORT_OCTETS` for the pools that one group of agents can be configured to serve. Details are cut if
 * there is no room for them. `serving`, `reason` and `version` of a pool are never cut: they decide whether a pool may move between groups.
 */
export function formatAgentReport(report: AgentReport): string {
  const pools = [...report].toSorted(([one], [other]) => (one < other ? -1 : 1));
  let text = '';
  for (const detail of DETAILS) {
    if (conflictsIn(report, detail) * LEAST_CONFLICT_OCTETS > MOST_REPORT_OCTETS) continue;
    text = JSON.stringify(Object.fromEntries(pools.map(([pool, one]) => [pool, withDetail(one, detail)])));
    if (octetsOf(text) <= MOST_REPORT_OCTETS) break;
  }
  return text;
}

/** Thousands of conflicts are counted before they are written. */
function conflictsIn(report: AgentReport, most: Detail): number {
  return [...report.values()].reduce((sum, { conflicts = [] }) => sum + Math.min(conflicts.length, most.conflicts), 0);
}

function withDetail(
  { message, conflicts, observedUses, rogueServers, routers, declinedIpv6, ...service }: PoolReport,
  most: Detail,
): object {
  const inUse = (conflicts ?? []).slice(0, most.conflicts);
  const servers = rogueServers?.slice(0, most.rogueServers);
  return {
    ...service,
    ...(message !== undefined && most.message > 0 && { message: cutText(message, most.message) }),
    ...(inUse.length > 0 && { conflicts: inUse }),
    ...usesOf(observedUses, most),
    // An empty list would mean that there is no other server.
    ...(servers !== undefined && (servers.length > 0 || rogueServers?.length === 0) && { rogueServers: servers }),
    ...ipv6Detail(routers, declinedIpv6, most),
  };
}

function ipv6Detail(routers: PoolReport['routers'], declinedIpv6: PoolReport['declinedIpv6'], most: Detail): object {
  const declined = (declinedIpv6 ?? []).slice(0, most.declinedIpv6);
  return {
    // All or none: the router that is left out might be the one that matters.
    ...(routers !== undefined && routers.length <= most.routers && { routers }),
    ...(declined.length > 0 && { declinedIpv6: declined }),
  };
}

function usesOf(uses: readonly ReportedUse[] = [], { observedUses: most }: Detail): Pick<PoolReport, 'observedUses'> {
  return uses.length === 0 || most === 0 ? {} : { observedUses: uses.slice(0, most) };
}

/** A text that changes when the report must be written at once. The version of a pool can wait for the next renewal. */
export function describeAgentReport(report: AgentReport): string {
  return formatAgentReport(new Map([...report].map(([pool, one]) => [pool, { ...one, version: '' }])));
}

/** The readable part of a report; the rest is left out. Never throws. */
export function parseAgentReport(text: string | undefined): AgentReport {
  const report = new Map<string, PoolReport>();
  for (const [pool, entry] of Object.entries(fieldsOf(parseJson(text)))) {
    const fields = fieldsOf(entry);
    const { serving, rogueServers, silentMinutes } = fields;
    if (typeof serving !== 'boolean') continue;
    const [reason, message, version] = ['reason', 'message', 'version'].map((name) => textOf(fields[name]));
    const conflicts = itemsOf(fields['conflicts']).flatMap(readConflict);
    const observedUses = itemsOf(fields['observedUses']).flatMap(readUse);
    report.set(pool, {
      serving,
      ...toReason(reason, message),
      ...(version && { version }),
      ...(conflicts.length > 0 && { conflicts }),
      ...(observedUses.length > 0 && { observedUses }),
      ...readIpv6(fields),
      ...(Array.isArray(rogueServers) && { rogueServers: rogueServers.flatMap(readRogueServer) }),
      ...(typeof silentMinutes === 'number' && silentMinutes > 0 && { silentMinutes }),
    });
  }
  return report;
}

/** Puts a reason that only another version knows in front of its message. */
function toReason(reason: string | undefined, message: string | undefined): Pick<PoolReport, 'reason' | 'message'> {
  const isKnown = reason !== undefined && isReasonAt('agent report', reason);
  const text = isKnown ? message : [reason, message].filter(Boolean).join(': ');
  return { ...(isKnown && { reason }), ...(text && { message: text }) };
}

function readConflict(entry: unknown): ReportedConflict[] {
  const fields = fieldsOf(entry);
  const address = textOfFormat(fields['address'], IPV4_ADDRESS);
  const macAddress = textOfFormat(fields['macAddress'], MAC_ADDRESS);
  const usedBy = textOfFormat(fields['usedBy'], MAC_ADDRESS);
  if (address === undefined || macAddress === undefined) return [];
  return [{ address, macAddress, ...(usedBy !== undefined && { usedBy }) }];
}

function readUse(entry: unknown): ReportedUse[] {
  const fields = fieldsOf(entry);
  const address = textOfFormat(fields['address'], IPV4_ADDRESS);
  const usedBy = textOfFormat(fields['usedBy'], MAC_ADDRESS);
  const assignedTo = textOfFormat(fields['assignedTo'], MAC_ADDRESS);
  if (address === undefined || usedBy === undefined) return [];
  return [{ address, usedBy, ...(assignedTo !== undefined && { assignedTo }) }];
}

function readRogueServer(entry: unknown): RogueServer[] {
  const fields = fieldsOf(entry);
  const address = textOfFormat(fields['address'], IPV4_ADDRESS);
  return address === undefined ? [] : [{ address, macAddress: textOf(fields['macAddress']) ?? '' }];
}

function readIpv6({ routers, declinedIpv6 }: Readonly<Record<string, unknown>>): Pick<PoolReport, 'routers' | 'declinedIpv6'> {
  const declined = itemsOf(declinedIpv6).slice(0, MOST_DECLINED_IPV6).flatMap(readHost);
  return {
    ...(Array.isArray(routers) && routers.length <= MOST_ROUTERS && { routers: routers.flatMap(readRouter) }),
    ...(declined.length > 0 && { declinedIpv6: declined }),
  };
}

function readRouter(entry: unknown): ReportedRouter[] {
  const fields = fieldsOf(entry);
  const [isDefaultRouter, isManaged] = [fields['isDefaultRouter'] === true, fields['isManaged'] === true];
  return readHost(entry).map((host) => ({ ...host, isDefaultRouter, isManaged }));
}

/** An IPv6 address and a MAC address. */
function readHost(entry: unknown): DeclinedIpv6[] {
  const fields = fieldsOf(entry);
  const address = textOfFormat(fields['address'], IPV6_ADDRESS);
  const macAddress = textOfFormat(fields['macAddress'], MAC_ADDRESS);
  return address === undefined || macAddress === undefined ? [] : [{ address, macAddress }];
}
