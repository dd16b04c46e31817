/** The options of `serve --pools` about the page. */

import type { BareHostPageSettings } from '@vmdhcp/bare-host-agent/page';
import {
  booleanOption,
  CommandError,
  ExitCode,
  isLoopback,
  type ListenAddress,
  requiredListenAddress,
} from '@vmdhcp/service-process';
import { Option } from 'commander';

export interface BareHostPageOptions {
  readonly ui?: boolean;
  readonly uiListen: ListenAddress;
  readonly uiTokenFile?: string;
  readonly uiTlsDirectory?: string;
}

export const bareHostPageOptions = (): Option[] => [
  booleanOption('--ui', 'with --pools: serve a read-only page of the pools and their leases'),
  new Option('--ui-listen <host:port>', 'where; other than on a loopback address only with the two options that follow')
    .argParser(requiredListenAddress('127.0.0.1:8069', 'to do without, leave out --ui'))
    .default({ host: '127.0.0.1', port: 8069 }, '127.0.0.1:8069'),
  new Option('--ui-token-file <file>', 'the page needs the token in this file; default: on a loopback address none'),
  new Option('--ui-tls-directory <directory>', 'HTTPS, with tls.crt and tls.key of this directory'),
];

/** Undefined if there is no page. @throws CommandError if other hosts would see leases, or a token. */
export function toBareHostPage(options: BareHostPageOptions): BareHostPageSettings | undefined {
  const { ui, uiListen: listen, uiTokenFile: tokenFile, uiTlsDirectory: tlsDirectory } = options;
  if (ui !== true) return undefined;
  if (!isLoopback(listen) && (tokenFile === undefined || tlsDirectory === undefined)) {
    const message = `--ui-listen ${listen.host}: other hosts reach it; give --ui-token-file and --ui-tls-directory, or listen on 127.0.0.1 and use ssh -L`;
    throw new CommandError(message, ExitCode.usage);
  }
  return { listen, tokenFile, tlsDirectory };
}
