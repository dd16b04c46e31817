import { formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { AddressChain, ClientRecord } from '@vmdhcp/explain';
import type { ReaderOptions } from '@vmdhcp/explain/observe';
import { ClusterReader, type MachineName, toCommandError, watchAnswers } from '@vmdhcp/explain/observe';
import { REASONS } from '@vmdhcp/ippool-api/agent';
import { describeNames } from '@vmdhcp/kube-runtime';
import { ExitCode, stopSignal } from '@vmdhcp/service-process';
import { formatChain, recordLines, rightsLines } from '../output/format-chain.js';
import { formatHostChains } from '../output/format-host-chain.js';
import { type DataFormat, printData } from '../output/print-data.js';
import { printableIn, printableLine } from '../output/printable-line.js';
import { type Terminal, terminalOf } from '../output/terminal.js';
import { answerTo, type WhyAnswer } from './answer-why.js';
import { lastOwnerLines } from './last-owners.js';

export interface WhyOptions extends ReaderOptions {
  readonly output: 'text' | 'wide' | 'name' | DataFormat;
  readonly auditNamespace: string;
  readonly watch?: boolean;
  /** Seconds. */
  readonly interval: number;
}

/** Prints the way to the address of a virtual machine. @throws CommandError if the cluster does not answer. */
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

/** Prints it again whenever it changes; on a terminal, each output replaces the one before. */
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

async function print(answer: WhyAnswer, { output, watch }: WhyOptions): Promise<void> {
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

function namesOf({ chain, hosts = [] }: WhyAnswer): string[] {
  if (chain !== undefined) return [`virtualmachine.kubevirt.io/${chain.name}`];
  return hosts.flatMap(({ host }) => (host === undefined ? [] : [`hoststatus.bmc.spidernet.io/${host}`]));
}

function exitCodeOf({ chain, hosts = [], hasAddress: has, missingRights }: WhyAnswer): number {
  if (has) return ExitCode.ok;
  const isKnown = [chain, ...hosts].some((one) => one?.state === 'broken' || one?.state === 'waiting');
  return missingRights.length > 0 && !isKnown ? ExitCode.noPermission : ExitCode.failed;
}

function toText({ subject, records, chain, otherClaims, hosts, before, missingRights }: WhyAnswer, terminal: Terminal): string {
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

/** Says what to do about an address that no virtual machine has. */
function remediesOf(records: readonly ClientRecord[], chain: AddressChain | undefined): string[] {
  const reasons = records.flatMap(({ reason }) => reason ?? []);
  const shown = records.length === 0 && chain === undefined ? (['ClientUnknown'] as const) : new Set(reasons);
  return [...shown].map((reason) => `  ${reason}: ${REASONS[reason].remedy}`);
}
