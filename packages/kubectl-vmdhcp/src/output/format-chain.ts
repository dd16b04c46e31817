/**
 * Formats the way to an address as a tree for people: one line for each link, and below the first broken one the cause and the
 * remedy.
 */

import {
  type AddressChain,
  type ChainLink,
  type ClientRecord,
  describeMissingRight,
  firstTrouble,
  type InterfaceChain,
  type LinkState,
  type MissingRight,
} from '@vmdhcp/explain';
import type { HostChainLink } from '@vmdhcp/explain/hosts';
import { type Colour, paint, type Terminal, wrap } from './terminal.js';
import { verdicts } from './verdicts.js';

const MARKS: Readonly<Record<LinkState, { readonly mark: string; readonly colour: Colour }>> = {
  ok: { mark: '✓', colour: 'green' },
  absent: { mark: '-', colour: 'dim' },
  note: { mark: '!', colour: 'yellow' },
  unknown: { mark: '?', colour: 'dim' },
  waiting: { mark: '…', colour: 'yellow' },
  broken: { mark: '✗', colour: 'red' },
};

/** Ends with a line feed. */
export function formatChain(chain: AddressChain, terminal: Terminal): string {
  const { namespace, name, links, interfaces, missingRights } = chain;
  const first = firstTrouble(links);
  const machine = links.flatMap((link) => linkLines(link, { isFirst: link === first, indent: '  ' }, terminal));
  const ways = interfaces.flatMap((one) => ['', ...interfaceLines(one, first === undefined, terminal)]);
  const lines = [
    ...verdicts(chain).map((text) => paint(text, 'bold', terminal)),
    '',
    `${namespace}/${name}`,
    ...machine,
    ...ways,
  ];
  return `${[...lines, ...rightsLines(missingRights)].join('\n')}\n`;
}

function interfaceLines({ interface: name, links }: InterfaceChain, isFirstHere: boolean, terminal: Terminal): string[] {
  const first = isFirstHere ? firstTrouble(links) : undefined;
  const lines = links.map((link, index) => ({ link, isLast: index === links.length - 1 }));
  return [
    `interface ${name}`,
    ...lines.flatMap(({ link, isLast }) =>
      linkLines(link, { isFirst: link === first, indent: isLast ? '└─ ' : '├─ ' }, terminal),
    ),
  ];
}

const TITLES: Readonly<Record<(ChainLink | HostChainLink)['link'], string>> = {
  'virtual-machine': 'virtual machine',
  controller: 'controller',
  interface: 'interface',
  network: 'network',
  'network-config': 'network config',
  pool: 'pool',
  address: 'address',
  agents: 'agents',
  leader: 'leader',
  report: 'report',
  packets: 'packets',
  instance: 'instance',
  'cluster-agent': 'ClusterAgent',
  'host-agents': 'agents',
  'host-endpoint': 'HostEndpoint',
  lease: 'lease',
  host: 'host',
  'management-controller': 'management',
};

interface LinePlace {
  /** True if it is the first link that is broken or waits. */
  readonly isFirst: boolean;
  readonly indent: string;
}

export function linkLines(
  { link, state, object, facts, findings }: ChainLink | HostChainLink,
  { isFirst, indent }: LinePlace,
  terminal: Terminal,
): string[] {
  const { mark, colour } = MARKS[state];
  const margin = `${indent === '├─ ' ? '│' : ' '}      `;
  const what = [object, facts].filter(Boolean).join(': ');
  const broken = isFirst ? paint(state === 'broken' ? '  <- broken here' : '  <- waits here', colour, terminal) : '';
  const head = `${indent}${paint(mark, colour, terminal)} ${TITLES[link].padEnd(15)} ${what}${broken}`;
  const below = findings.flatMap(({ reason, message, remedy, state: grave }) => [
    ...indented(`${paint(reason, MARKS[grave].colour, terminal)}: ${message}`, margin, terminal),
    ...indented(`what to do: ${remedy}`, `${margin}  `, terminal),
  ]);
  return [head.trimEnd(), ...below];
}

function indented(text: string, indent: string, { columns }: Terminal): string[] {
  const lines = columns === undefined ? [text] : wrap(text, Math.max(20, columns - indent.length));
  return lines.map((line) => `${indent}${line}`);
}

/** Lists what could not be read, and what to ask an administrator for. */
export function rightsLines(rights: readonly MissingRight[]): string[] {
  if (rights.length === 0) return [];
  const asked = rights.map((right) => `  ${describeMissingRight(right)}: ask for the verb ${right.verb} on it`);
  return ['', 'not everything could be read; what is above is the rest:', ...asked];
}

/** What pools record about an address or a MAC address, one line each. */
export function recordLines(subject: string, records: readonly ClientRecord[]): string[] {
  if (records.length === 0) return [`${subject}: no pool has it`];
  return records.map(({ address, pool, state, macAddress, usedBy }) => {
    const who = macAddress === undefined ? '' : ` ${state === 'reserved' ? 'for' : 'to'} ${macAddress}`;
    const by = usedBy === undefined ? '' : `, in use by ${usedBy}`;
    return `${address} of IPPool ${pool}: ${STATES[state]}${who}${by}`;
  });
}

const STATES: Readonly<Record<ClientRecord['state'], string>> = {
  assigned: 'assigned',
  reserved: 'reserved',
  excluded: 'excluded, so it is never leased',
  unavailable: 'of the server, the router or the network itself, so it is never leased',
  quarantined: 'quarantined: another machine uses it',
  unreadable: 'its entry in the status cannot be read, so no client gets it',
  free: 'free',
  'outside-range': 'in the subnet, and outside the range that may be leased',
};
