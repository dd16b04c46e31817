import { formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { AddressChain, ClientRecord, ClientSubject, MissingRight } from '@vmdhcp/explain';
import type { HostChain } from '@vmdhcp/explain/hosts';
import type { ReaderOptions } from '@vmdhcp/explain/observe';
import {
  ClusterReader,
  findClient,
  type MachineName,
  type ObservedHosts,
  observeChain,
  observeHosts,
  toCommandError,
  watchAnswers,
} from '@vmdhcp/explain/observe';
import { REASONS } from '@vmdhcp/ippool-api/agent';
import { describeNames } from '@vmdhcp/kube-runtime';
import { ExitCode, stopSignal } from '@vmdhcp/service-process';
import { formatChain, recordLines, rightsLines } from '../output/format-chain.js';
import { formatHostChains } from '../output/format-host-chain.js';
import { type DataFormat, printData } from '../output/print-data.js';
import { printableIn, printableLine } from '../output/printable-line.js';
import { type Terminal, terminalOf } from '../output/terminal.js';
import { findLastOwners, type LastAssignments, lastOwnerLines } from './last-owners.js';
import { clientIn, machineIn } from './subject.js';

export interface WhyOptions extends ReaderOptions {
  readonly output: 'text' | 'wide' | 'name' | DataFormat;
  readonly auditNamespace: string;
  readonly watch?: boolean;
  /** Seconds. */
  readonly interval: number;
}

/** What `why` prints as data. */
interface Answer {
  readonly subject: string;
  readonly hasAddress: boolean;
  readonly requests: number;
  readonly records?: readonly ClientRecord[];
  readonly chain?: AddressChain;
  /** Other virtual machines with the same MAC address on the network, as far as they were seen. */
  readonly otherClaims?: readonly MachineName[];
  /** Bare-metal hosts with the address or the MAC address. */
  readonly hosts?: readonly HostChain[];
  /** Who had an address that no client has now, or which address a client had that has none. */
  readonly before?: LastAssignments;
  readonly missingRights: readonly MissingRight[];
}

/** Prints the way to the address of a virtual machine. @throws CommandError where the cluster does not answer. */
export async function why(subject: string, options: WhyOptions): Promise<void> {
  const reader = await ClusterReader.open(options);
  try {
    if (options.watch) await watchAnswer(reader, subject, options);
    else await print(await answerTo(reader, subject, options.auditNamespace), options);
  } catch (error) {
    throw toCommandError(error);
  } finally {
    reader.close();
  }
}

/** Once more whenever the answer is another one; on a terminal each one replaces the one before. */
async function watchAnswer(reader: ClusterReader, subject: string, options: WhyOptions): Promise<void> {
  const isReplaced = process.stdout.isTTY && (options.output === 'text' || options.output === 'wide');
  await watchAnswers({
    signal: stopSignal(),
    intervalMs: options.interval * 1000,
    ask: () => answerTo(reader, subject, options.auditNamespace),
    onNews: async (answer) => {
      if (isReplaced) process.stdout.write('\u001b[H\u001b[2J');
      await print(answer, options);
    },
    onFailure: (message) => process.stderr.write(`${printableLine(message)}; trying again\n`),
  });
}

async function print(answer: Answer, { output, watch }: WhyOptions): Promise<void> {
  process.exitCode = exitCodeOf(answer);
  if (output === 'json' || output === 'yaml') return await printData(output, answer, watch === true ? 'stream' : undefined);
  if (output === 'name') {
    process.stdout.write(
      namesOf(answer)
        .map((name) => `${name}\n`)
        .join(''),
    );
    return;
  }
  const terminal = terminalOf(process.stdout, process.env);
  process.stdout.write(toText(printableIn(answer), output === 'wide' ? { ...terminal, columns: undefined } : terminal));
}

function namesOf({ chain, hosts = [] }: Answer): string[] {
  if (chain !== undefined) return [`virtualmachine.kubevirt.io/${chain.name}`];
  return hosts.flatMap(({ host }) => (host === undefined ? [] : [`hoststatus.bmc.spidernet.io/${host}`]));
}

async function answerTo(reader: ClusterReader, text: string, auditNamespace: string): Promise<Answer> {
  const client = clientIn(text);
  if (client !== undefined) return { subject: text, ...(await answerAbout(reader, client, auditNamespace)) };
  const chain = await observeChain(reader, machineIn(text, reader.namespace));
  const { missingRights } = chain;
  return { subject: text, hasAddress: hasAddress(chain), requests: reader.requests, chain, missingRights };
}

async function answerAbout(
  reader: ClusterReader,
  client: ClientSubject,
  auditNamespace: string,
): Promise<Omit<Answer, 'subject'>> {
  const { pools, records, machine, otherClaims, missingRights } = await findClient(reader, client);
  if (machine !== undefined) {
    const whole = await observeChain(reader, machine);
    const chain = ofClient(whole, records, client);
    const rights = [...missingRights, ...whole.missingRights];
    return { hasAddress: hasAddress(chain), requests: reader.requests, records, chain, otherClaims, missingRights: rights };
  }
  const isReserved = records.some(({ state }) => state === 'reserved');
  if (records.some(({ macAddress }) => macAddress !== undefined))
    return { hasAddress: isReserved, requests: reader.requests, records, missingRights };
  const ofHosts = await observeHosts(reader, client, auditNamespace);
  if (ofHosts.hosts.length > 0) return aboutHosts(reader, records, { ...ofHosts, rightsOfPools: missingRights });
  const before = await findLastOwners(reader, client, { namespace: auditNamespace, pools });
  // Where a pool has the address, it is no host's.
  const rights = records.length === 0 ? [...missingRights, ...ofHosts.missingRights] : missingRights;
  return { hasAddress: false, requests: reader.requests, records, before, missingRights: rights };
}

function aboutHosts(
  { requests }: ClusterReader,
  records: readonly ClientRecord[],
  { hosts, missingRights, rightsOfPools }: ObservedHosts & { readonly rightsOfPools: readonly MissingRight[] },
): Omit<Answer, 'subject'> {
  const has = hosts.every(({ hasAddress: isThere, state }) => isThere && state !== 'broken' && state !== 'waiting');
  return { hasAddress: has, requests, records, hosts, missingRights: [...rightsOfPools, ...missingRights] };
}

/** The way of the one interface that was asked for. */
function ofClient(chain: AddressChain, records: readonly ClientRecord[], client: ClientSubject): AddressChain {
  const macAddress = client.kind === 'mac-address' ? client.macAddress : records.find((one) => one.macAddress)?.macAddress;
  const interfaces = chain.interfaces.filter((one) => one.macAddress === macAddress);
  return interfaces.length === 0 ? chain : { ...chain, interfaces };
}

/** True if each interface has its address, as far as that could be read. */
function hasAddress({ links, interfaces }: AddressChain): boolean {
  const states = [...links, ...interfaces].map(({ state }) => state);
  return (
    interfaces.length > 0 && !states.some((state) => state === 'broken' || state === 'waiting') && !interfaces.some(isUnknown)
  );
}

function isUnknown({ state, address }: AddressChain['interfaces'][number]): boolean {
  return state === 'unknown' && address === undefined;
}

function exitCodeOf({ chain, hosts = [], hasAddress: has, missingRights }: Answer): number {
  if (has) return ExitCode.ok;
  const isKnown = [chain, ...hosts].some((one) => one?.state === 'broken' || one?.state === 'waiting');
  return missingRights.length > 0 && !isKnown ? ExitCode.noPermission : ExitCode.failed;
}

function toText({ subject, records, chain, otherClaims, hosts, before, missingRights }: Answer, terminal: Terminal): string {
  if (hosts !== undefined) return formatHostChains(hosts, missingRights, terminal);
  const history = before === undefined ? [] : lastOwnerLines(before);
  const found =
    records === undefined
      ? []
      : [...recordLines(canonical(subject), records), ...claimLines(otherClaims), ...history, ...remediesOf(records, chain), ''];
  if (chain !== undefined)
    return `${found.join('\n')}${found.length > 0 ? '\n' : ''}${formatChain({ ...chain, missingRights }, terminal)}`;
  return `${[...found, 'no virtual machine has an interface with it', ...rightsLines(missingRights)].join('\n')}\n`;
}

function claimLines(claims: readonly MachineName[] = []): string[] {
  if (claims.length === 0) return [];
  const names = describeNames(claims.map(({ namespace, name }) => `${namespace}/${name}`));
  return [`  other virtual machines with the same MAC address, which do not have the address: ${names}`];
}

function canonical(subject: string): string {
  const address = parseIpv4Address(subject);
  return address === undefined ? (parseMacAddress(subject) ?? subject) : formatIpv4Address(address);
}

/** What to do about an address that no virtual machine has. */
function remediesOf(records: readonly ClientRecord[], chain: AddressChain | undefined): string[] {
  const reasons = records.flatMap(({ reason }) => reason ?? []);
  const shown = records.length === 0 && chain === undefined ? (['ClientUnknown'] as const) : new Set(reasons);
  return [...shown].map((reason) => `  ${reason}: ${REASONS[reason].remedy}`);
}
