import type { ClientView, Counts, PacketView, PlaceView, ReplacedClients } from '@vmdhcp/dhcp-agent/packet-path';

/** The response of an agent to a request for its clients. */
export interface ClientsDocument {
  readonly agent: string;
  /** The start of the counts, milliseconds since 1970. */
  readonly sinceMs: number;
  readonly clients: readonly ClientView[];
  readonly pools: readonly PlaceView[];
  /** What did not fit into the bounded memory: clients, and packets that are counted only for their pools. */
  readonly others: { readonly replaced: ReplacedClients; readonly packets: number };
}

/**
 * Formats clients for a person: one line each, the most recent first, in aligned columns. @param withPackets - true to include
 * the last packets of each.
 */
export function formatClients(document: ClientsDocument, { withPackets }: { readonly withPackets: boolean }): string {
  const clients = document.clients.toSorted((a, b) => b.lastAtMs - a.lastAtMs || (a.mac < b.mac ? -1 : 1));
  const header = ['MAC', 'POOL', 'LAST', 'SENT', 'GOT', 'NOT ANSWERED'];
  const rows = clients.map(({ mac, pool, lastAtMs, messages, answers, unanswered }) => [
    mac,
    pool || '-',
    time(lastAtMs),
    counts(messages),
    counts(answers),
    counts(unanswered),
  ]);
  const packets = withPackets ? clients.flatMap(({ mac, last }) => ['', `last packets of ${mac}:`, ...last.map(packetLine)]) : [];
  return `${[...columns([header, ...rows]), ...packets, ...leftOut(document)].join('\n')}\n`;
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function packetLine({ atMs, received, from, answer, reason }: PacketView): string {
  const became = answer === null ? (reason === null ? '' : ` -> no answer: ${reason}`) : ` -> ${answer}`;
  return `  ${time(atMs)}  ${received} from ${from}${became}${answer !== null && reason !== null ? `: ${reason}` : ''}`;
}

function leftOut({ others: { replaced, packets } }: ClientsDocument): string[] {
  const parts = Object.entries(replaced).filter(([, count]) => count > 0);
  const clients = parts.map(([standing, count]) => `${count} ${standing}`).join(', ');
  const lines = [
    ...(clients === '' ? [] : [`removed to make room for others: ${clients}`]),
    ...(packets === 0 ? [] : [`not noted, because too many came within a second: ${packets} packets`]),
  ];
  return lines.length === 0 ? [] : ['', ...lines];
}

function counts(named: Counts): string {
  const parts = Object.entries(named).map(([name, count]) => `${name} ${count}`);
  return parts.length === 0 ? '-' : parts.join(', ');
}

function time(atMs: number): string {
  return new Date(atMs).toISOString();
}
