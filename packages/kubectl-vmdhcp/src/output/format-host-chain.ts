/** The way of bare-metal hosts to their addresses, as a tree for people. */
import { firstTrouble, type MissingRight } from '@vmdhcp/explain';
import type { HostChain } from '@vmdhcp/explain/hosts';
import { linkLines, rightsLines } from './format-chain.js';
import { paint, type Terminal } from './terminal.js';

/** Ends with a line feed. */
export function formatHostChains(
  hosts: readonly HostChain[],
  missingRights: readonly MissingRight[],
  terminal: Terminal,
): string {
  const verdicts = hosts.map((host) => paint(verdictOf(host), 'bold', terminal));
  const ways = hosts.flatMap((host) => ['', ...wayLines(host, terminal)]);
  return `${[...verdicts, ...ways, ...rightsLines(missingRights)].join('\n')}\n`;
}

function verdictOf(host: HostChain): string {
  const { address = 'no address', host: name, links, hasAddress } = host;
  const trouble = firstTrouble(links);
  const reason = trouble?.findings.find(({ state }) => state === trouble.state)?.reason;
  if (name === undefined) return `${address}: no host has it${reason === undefined ? '' : `: ${reason}`}`;
  if (reason !== undefined) return `host ${name}, ${address}: ${reason}`;
  return hasAddress ? `host ${name} has ${address}, and answers` : `host ${name}: no client has a lease of ${address} now`;
}

function wayLines({ links, host, address }: HostChain, terminal: Terminal): string[] {
  const first = firstTrouble(links);
  const lines = links.flatMap((link, index) =>
    linkLines(link, { isFirst: link === first, indent: index === links.length - 1 ? '└─ ' : '├─ ' }, terminal),
  );
  return [host ?? address ?? 'no host', ...lines];
}
