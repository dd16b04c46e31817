import type { ClientView, Counts, PacketView, PlaceView, ReplacedClients } from '@vmdhcp/dhcp-agent/packet-path';

/** What an agent answers when it is asked for its clients. */
export interface ClientsDocument {
  readonly agent: string;
  /** Milliseconds since 1970: counts begin then. */
  readonly sinceMs: number;
  readonly clients: readonly ClientView[];
  readonly pools: readonly PlaceView[];
  /** What the bound of the memory left out: clients, and packets that are counted for their pools only. */
  readonly others: { readonly replaced: ReplacedClients; readonly packets: number };
}

/** Clients for a person: a line each, the one that was heard last first, in columns as wide as their widest cell. @param withPackets - the last packets of each, too. */
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
    ...(clients === '' ? [] : [`not shown any more, as others came: ${clients}`]),
    ...(packets === 0 ? [] : [`not noted, as too many came within a second: ${packets} packets`]),
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
