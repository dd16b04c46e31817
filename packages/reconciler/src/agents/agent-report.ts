/**
 * What the leader of the agents says about each of its pools. It stands in an annotation of the Lease by which it leads, so
 * that heartbeat and report are one request, and the status of an IPPool has one writer.
 */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { isReasonAt, type ReasonAt } from '@vmdhcp/ippool-api';
import { cutText, isRecord, MOST_MESSAGE_OCTETS, octetsOf, readList, readText } from '@vmdhcp/kube-runtime';

/** On the agents' Lease: JSON, `AgentReport`. */
export const AGENT_REPORT_ANNOTATION = 'network.harvesterhci.io/agent-report';

/** Reasons of a pool that the Lease suspends for its agents: they let go of it, or have done so and could serve it at once. */
export const DRAINING = 'Draining' as const satisfies ReasonAt<'agent report'>;
export const SUSPENDED = 'Suspended' as const satisfies ReasonAt<'agent report'>;

export interface PoolReport {
  /** True: clients of this pool are answered. */
  readonly serving: boolean;
  /** Where it is not served: why, and what that means. */
  readonly reason?: ReasonAt<'agent report'>;
  readonly message?: string;
  /** resourceVersion of the IPPool that the agent goes by. */
  readonly version?: string;
  /** Addresses of clients that somebody else uses. */
  readonly conflicts?: readonly AddressConflict[];
  /** Other DHCP servers on the network; absent: nobody has looked yet. */
  readonly rogueServers?: readonly RogueServer[];
}

export interface AddressConflict {
  readonly address: Ipv4Address;
  /** The client that should have it. */
  readonly macAddress: MacAddress;
  /** Who uses it; absent where the client only said that somebody does. */
  readonly usedBy?: MacAddress;
}

export interface RogueServer {
  readonly address: string;
  readonly macAddress: string;
}

/** By the `namespace/name` of a pool. */
export type AgentReport = ReadonlyMap<string, PoolReport>;

/**
 * The most octets of a report: half of what the API server lets all annotations of an object have together. The rest is for the
 * pools that are suspended, which the Lease names twice.
 */
export const MOST_REPORT_OCTETS = 131_072;

/** How much of each pool's details a report has room for. */
interface Detail {
  /** Octets; 0: none. */
  readonly message: number;
  readonly conflicts: number;
  readonly rogueServers: number;
}

/**
 * From most to least. Messages are cut first, as they are for people. Conflicts come last: the controller quarantines those that it
 * reads, and then they make room for others.
 */
const DETAILS: readonly Detail[] = [
  { message: MOST_MESSAGE_OCTETS, conflicts: 256, rogueServers: 16 },
  { message: 240, conflicts: 256, rogueServers: 4 },
  { message: 80, conflicts: 64, rogueServers: 1 },
  { message: 0, conflicts: 16, rogueServers: 1 },
  { message: 0, conflicts: 2, rogueServers: 1 },
  { message: 0, conflicts: 0, rogueServers: 0 },
];

/** `{"address":"10.0.0.9","macAddress":"02:00:00:00:00:01"}` and a comma. */
const LEAST_CONFLICT_OCTETS = 56;

/**
 * The text of the annotation: at most `MOST_REPORT_OCTETS` for the pools that one group of agents can be told of. Details are cut where
 * there is no room for them; `serving`, `reason` and `version` of a pool never are: pools move between groups by what they say.
 */
export function formatAgentReport(report: AgentReport): string {
  const pools = [...report].toSorted(([one], [other]) => (one < other ? -1 : 1));
  let text = '';
  for (const detail of DETAILS) {
    if (conflictsIn(report, detail) * LEAST_CONFLICT_OCTETS > MOST_REPORT_OCTETS) continue;
    text = JSON.stringify(Object.fromEntries(pools.map(([pool, said]) => [pool, toText(said, detail)])));
    if (octetsOf(text) <= MOST_REPORT_OCTETS) break;
  }
  return text;
}

/** Thousands of conflicts are counted before they are written. */
function conflictsIn(report: AgentReport, most: Detail): number {
  return [...report.values()].reduce((sum, { conflicts = [] }) => sum + Math.min(conflicts.length, most.conflicts), 0);
}

function toText({ message, conflicts, rogueServers, ...said }: PoolReport, most: Detail): object {
  const inUse = (conflicts ?? []).slice(0, most.conflicts);
  const servers = rogueServers?.slice(0, most.rogueServers);
  return {
    ...said,
    ...(message !== undefined && most.message > 0 && { message: cutText(message, most.message) }),
    ...(inUse.length > 0 && {
      conflicts: inUse.map((conflict) => ({ ...conflict, address: formatIpv4Address(conflict.address) })),
    }),
    // No server is another thing than no room for one.
    ...(servers !== undefined && (servers.length > 0 || rogueServers?.length === 0) && { rogueServers: servers }),
  };
}

/** What is to be told at once when it changes: which version a pool has can wait for the next renewal. */
export function describeAgentReport(report: AgentReport): string {
  return formatAgentReport(new Map([...report].map(([pool, said]) => [pool, { ...said, version: '' }])));
}

/** What can be read of a report; what cannot is as if it were not said. */
export function parseAgentReport(text: string | undefined): AgentReport {
  const report = new Map<string, PoolReport>();
  for (const [pool, entry] of Object.entries(parseRecord(text))) {
    if (!isRecord(entry) || typeof entry['serving'] !== 'boolean') continue;
    const [reason, message, version] = ['reason', 'message', 'version'].map((name) => readText(entry, name));
    const conflicts = readList(entry, 'conflicts').flatMap(readConflict);
    report.set(pool, {
      serving: entry['serving'],
      ...toReason(reason, message),
      ...(version && { version }),
      ...(conflicts.length > 0 && { conflicts }),
      ...(Array.isArray(entry['rogueServers']) && { rogueServers: entry['rogueServers'].flatMap(readRogueServer) }),
    });
  }
  return report;
}

/** A reason of an agent of another version that has no meaning here stands before its message. */
function toReason(reason: string | undefined, message: string | undefined): Pick<PoolReport, 'reason' | 'message'> {
  const isKnown = reason !== undefined && isReasonAt('agent report', reason);
  const text = isKnown ? message : [reason, message].filter(Boolean).join(': ');
  return { ...(isKnown && { reason }), ...(text && { message: text }) };
}

function readConflict(entry: unknown): AddressConflict[] {
  const address = parseIpv4Address(readText(entry, 'address') ?? '');
  const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
  const usedBy = parseMacAddress(readText(entry, 'usedBy') ?? '');
  if (address === undefined || macAddress === undefined) return [];
  return [{ address, macAddress, ...(usedBy !== undefined && { usedBy }) }];
}

function readRogueServer(entry: unknown): RogueServer[] {
  const [address = '', macAddress = ''] = [readText(entry, 'address'), readText(entry, 'macAddress')];
  return parseIpv4Address(address) === undefined ? [] : [{ address, macAddress }];
}

function parseRecord(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
