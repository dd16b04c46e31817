/** What the clients of one agent sent and which replies they got, as `vmdhcp-agent clients --json` prints it. */
import { parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { isRecord, readField, readList, readText } from '@vmdhcp/kube-runtime';

/** Packet counts by name: of a message, a reply or a reason. */
export type PacketCounts = Readonly<Record<string, number>>;

/** The counts of a pool, or of one client of it. */
export interface TrafficCounts {
  /** `namespace/name`. */
  readonly pool: string;
  readonly interface: string;
  /** By message type: `DISCOVER`. */
  readonly messages: PacketCounts;
  /** By reply type: `OFFER`. */
  readonly answers: PacketCounts;
  /** Packets without a reply, by reason: `other-server-selected`. */
  readonly unanswered: PacketCounts;
  /** Unix time in milliseconds; 0 if not known. */
  readonly lastAtMs: number;
}

/** One packet of a client, and its outcome. */
export interface TrafficPacket {
  readonly atMs: number;
  readonly received: string;
  readonly from: string;
  /** `OFFER 192.168.48.10`; undefined if there was no reply. */
  readonly answer: string | undefined;
  /** Why there was no reply. */
  readonly reason: string | undefined;
}

/** What one client sent to an agent, and what it got. */
export interface ClientTraffic extends TrafficCounts {
  /** In canonical form. */
  readonly macAddress: string;
  /** Oldest first. */
  readonly last: readonly TrafficPacket[];
}

/** What one agent counted since its start. */
export interface AgentTrafficReport {
  /** The pod. */
  readonly agent: string;
  /** When the counts began. */
  readonly sinceMs: number;
  /** One entry for each pool; includes packets of clients that are not listed one by one. */
  readonly places: readonly TrafficCounts[];
  readonly clients: readonly ClientTraffic[];
}

/** Undefined: the text is not what an agent prints. Entries that cannot be read are left out. */
export function parseAgentTraffic(text: string): AgentTrafficReport | undefined {
  const document = parseJson(text);
  if (!isRecord(document) || !Array.isArray(document['clients'])) return undefined;
  const clients = document['clients'].flatMap(toClient);
  return {
    agent: readText(document, 'agent') ?? '',
    sinceMs: numberAt(document, 'sinceMs'),
    places: readList(document, 'pools').map(toCounts),
    clients,
  };
}

/** The number of all packets in these counts. */
export function packetsOf({ messages }: Pick<TrafficCounts, 'messages'>): number {
  return total(messages);
}

/** The number of packets that got no reply, or a NAK. */
export function refusalsOf({ answers, unanswered }: Pick<TrafficCounts, 'answers' | 'unanswered'>): number {
  return total(unanswered) + (answers['NAK'] ?? 0);
}

/** The name with the highest count; undefined if there is none. */
export function mostFrequent(counts: PacketCounts): string | undefined {
  return Object.entries(counts).toSorted(([, one], [, other]) => other - one)[0]?.[0];
}

function total(counts: PacketCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function toClient(value: unknown): ClientTraffic[] {
  const macAddress = parseMacAddress(readText(value, 'mac') ?? '');
  return macAddress === undefined ? [] : [{ macAddress, ...toCounts(value), last: readList(value, 'last').map(toPacket) }];
}

function toCounts(value: unknown): TrafficCounts {
  return {
    pool: readText(value, 'pool') ?? '',
    interface: readText(value, 'interface') ?? '',
    messages: countsAt(value, 'messages'),
    answers: countsAt(value, 'answers'),
    unanswered: countsAt(value, 'unanswered'),
    lastAtMs: numberAt(value, 'lastAtMs'),
  };
}

function toPacket(value: unknown): TrafficPacket {
  return {
    atMs: numberAt(value, 'atMs'),
    received: readText(value, 'received') ?? '',
    from: readText(value, 'from') ?? '',
    answer: readText(value, 'answer'),
    reason: readText(value, 'reason'),
  };
}

function countsAt(value: unknown, field: string): PacketCounts {
  const found = readField(value, field);
  if (!isRecord(found)) return {};
  return Object.fromEntries(Object.entries(found).filter((entry): entry is [string, number] => isCount(entry[1])));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function numberAt(value: unknown, field: string): number {
  const found = readField(value, field);
  return isCount(found) ? found : 0;
}
