/** The options of the controller about Wake-on-LAN. */

import { ownNamespace } from '@vmdhcp/controller-process/own-namespace';
import type { WakeOnLanSettings } from '@vmdhcp/controller-process/wake-on-lan';
import { booleanOption, CommandError, ExitCode, type ListenAddress, requiredListenAddress } from '@vmdhcp/service-process';
import { Option } from 'commander';
import type { AgentOptions } from './agent-options.js';

export interface WakeOnLanOptions extends Pick<AgentOptions, 'image' | 'imagePullSecret' | 'namespace' | 'onlyNamespace'> {
  readonly wakeOnLan?: boolean;
  readonly wakeOnLanListen: ListenAddress;
  readonly wakeOnLanService: string;
  readonly wakeOnLanServiceAccount?: string;
  readonly wakeOnLanClearText?: boolean;
}

export const wakeOnLanOptions = (): Option[] => [
  booleanOption('--wake-on-lan', 'magic packets start virtual machines, as WolConfigs allow; deploys agents that receive them'),
  new Option('--wake-on-lan-listen <host:port>', 'where agents of Wake-on-LAN report')
    .argParser(requiredListenAddress(':9090', 'to do without, leave out --wake-on-lan'))
    .default({ host: '::', port: 9090 }, ':9090'),
  new Option(
    '--wake-on-lan-service <name>',
    'how they reach it: a Service in the namespace of the controller, or HOST:PORT',
  ).default('vmdhcp-wake-on-lan'),
  new Option(
    '--wake-on-lan-service-account <name>',
    'ServiceAccount of agents of Wake-on-LAN, which needs no rights: for a policy that allows hostNetwork by account',
  ),
  booleanOption('--wake-on-lan-clear-text', 'without TLS: every host that reaches the port can start virtual machines'),
];

/** Undefined if there is no Wake-on-LAN. @throws CommandError if an option is missing. */
export function toWakeOnLan(options: WakeOnLanOptions): WakeOnLanSettings | undefined {
  if (options.wakeOnLan !== true) return undefined;
  const { image, wakeOnLanListen: listen } = options;
  if (image === undefined) {
    const message = 'with --wake-on-lan the controller creates the DaemonSets of agents: give their image (--image, AGENT_IMAGE)';
    throw new CommandError(message, ExitCode.usage);
  }
  return {
    listen,
    agents: {
      namespace: options.namespace || options.onlyNamespace || ownNamespace(),
      image,
      imagePullSecrets: options.imagePullSecret,
      serviceAccountName: options.wakeOnLanServiceAccount || undefined,
      manager: managerAddress(options.wakeOnLanService, listen.port),
    },
    podAddress: process.env['POD_IP'] || undefined,
    clearText: options.wakeOnLanClearText === true,
  };
}

/** A name without a port is the name of a Service. */
function managerAddress(service: string, port: number): string {
  return service.includes(':') ? service : `${service}.${ownNamespace()}.svc:${port}`;
}
