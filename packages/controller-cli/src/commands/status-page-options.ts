/** The options of the controller about the page. */

import type { StatusPageSettings } from '@vmdhcp/controller-process/page';
import {
  booleanOption,
  CommandError,
  ExitCode,
  isLoopback,
  type ListenAddress,
  requiredListenAddress,
} from '@vmdhcp/service-process';
import { Option } from 'commander';

export interface StatusPageOptions {
  readonly ui?: boolean;
  readonly uiListen: ListenAddress;
  readonly uiTlsDirectory?: string;
  readonly uiAudience: readonly string[];
}

export const statusPageOptions = (): Option[] => [
  booleanOption('--ui', 'serve a read-only page: pools, leases, virtual machines without an address, agents'),
  new Option('--ui-listen <host:port>', 'where; other than on a loopback address only with --ui-tls-directory')
    .argParser(requiredListenAddress('127.0.0.1:8068', 'to do without, leave out --ui'))
    .default({ host: '127.0.0.1', port: 8068 }, '127.0.0.1:8068'),
  new Option('--ui-tls-directory <directory>', 'HTTPS, with tls.crt and tls.key of this directory, as a Secret is mounted'),
  new Option('--ui-audience <name>', 'accept tokens of this audience only; may be repeated; default: those of the API server')
    .argParser((name: string, before: readonly string[]) => [...before, name])
    .default([], 'that of the API server'),
];

/** Undefined if there is no page. @throws CommandError if it would send tokens in clear text. */
export function toStatusPage({
  ui,
  uiListen: listen,
  uiTlsDirectory,
  uiAudience,
}: StatusPageOptions): StatusPageSettings | undefined {
  if (ui !== true) return undefined;
  const tlsDirectory = uiTlsDirectory || undefined;
  if (tlsDirectory === undefined && !isLoopback(listen)) {
    const message = `--ui-listen ${listen.host}: other hosts would send their tokens in clear text; give --ui-tls-directory, or listen on 127.0.0.1 and use kubectl port-forward`;
    throw new CommandError(message, ExitCode.usage);
  }
  return { listen, tlsDirectory, audiences: uiAudience };
}
