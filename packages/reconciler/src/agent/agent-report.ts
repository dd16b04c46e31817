/**
 * What the leader of the agents says about each of its pools. It stands in an annotation of the Lease by which it leads, so
 * that heartbeat and report are one request, and the status of an IPPool has one writer.
 */
import { formatIpv4Address, type Ipv4Address, type MacAddress, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { isRecord, readList, readText } from '../object/read-field.js';

/** On the agents' Lease: JSON, `AgentReport`. */
export const AGENT_REPORT_ANNOTATION = 'network.harvesterhci.io/agent-report';

/** Reasons of a pool that the Lease withholds from its agents: they let go of it, or have done so and could serve it at once. */
export const RELEASING = 'Releasing';
export const WITHHELD = 'Withheld';

export interface PoolReport {
  /** True: clients of this pool are answered. */
  readonly serving: boolean;
  /** One word in CamelCase, and what it means; where it is not served. */
  readonly reason?: string;
  readonly message?: string;
  /** resourceVersion of the IPPool that the agent goes by. */
  readonly version?: string;
  /** Addresses of clients that somebody else uses. */
  readonly conflicts?: readonly AddressConflict[];
  /** Other DHCP servers on the network; absent: nobody has looked yet. */
  readonly foreignServers?: readonly ForeignServer[];
}

export interface AddressConflict {
  readonly address: Ipv4Address;
  /** The client that should have it. */
  readonly macAddress: MacAddress;
  /** Who uses it; absent where the client only said that somebody does. */
  readonly usedBy?: MacAddress;
}

export interface ForeignServer {
  readonly address: string;
  readonly macAddress: string;
}

/** By the `namespace/name` of a pool. */
export type AgentReport = ReadonlyMap<string, PoolReport>;

export function formatAgentReport(report: AgentReport): string {
  const entries = [...report].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([pool, said]) => [pool, toText(said)]);
  return JSON.stringify(Object.fromEntries(entries));
}

function toText({ conflicts, ...said }: PoolReport): object {
  if (conflicts === undefined) return said;
  return { ...said, conflicts: conflicts.map((conflict) => ({ ...conflict, address: formatIpv4Address(conflict.address) })) };
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
      ...(reason && { reason }),
      ...(message && { message }),
      ...(version && { version }),
      ...(conflicts.length > 0 && { conflicts }),
      ...(Array.isArray(entry['foreignServers']) && { foreignServers: entry['foreignServers'].flatMap(readForeignServer) }),
    });
  }
  return report;
}

function readConflict(entry: unknown): AddressConflict[] {
  const address = parseIpv4Address(readText(entry, 'address') ?? '');
  const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '');
  const usedBy = parseMacAddress(readText(entry, 'usedBy') ?? '');
  if (address === undefined || macAddress === undefined) return [];
  return [{ address, macAddress, ...(usedBy !== undefined && { usedBy }) }];
}

function readForeignServer(entry: unknown): ForeignServer[] {
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
