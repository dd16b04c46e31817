import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { CommandError, createLogger, ExitCode, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import type { SecureOnPassword } from '@vmdhcp/wake-on-lan';
import { WakeAgent, type WakeAgentSettings } from '@vmdhcp/wake-on-lan/linux';
import { takeListenerCapabilities } from './take-agent-capabilities.js';

export interface WolOptions {
  readonly interface: readonly string[];
  readonly port: readonly number[];
  readonly frames: boolean;
  readonly promiscuous?: boolean;
  readonly mac?: readonly MacAddress[];
  readonly password?: SecureOnPassword;
  /** `SECRET/KEY` */
  readonly passwordSecret?: string;
  readonly exec?: string;
  /** host:port */
  readonly manager?: string;
  readonly tlsDir?: string;
  readonly clearText?: boolean;
  readonly nodeName?: string;
  /** Seconds. */
  readonly window: number;
  readonly http: ListenAddress | 'off';
  readonly logLevel: LogLevel;
}

/** Listens until the process is told to end. @throws CommandError if options contradict each other, or the HTTP address is in use. */
export async function listenForWakeUps(options: WolOptions): Promise<void> {
  const { mac, http, password, passwordSecret } = options;
  if (passwordSecret !== undefined && password === undefined)
    throw new CommandError(
      '--password-secret names a password: give that one too, by --password or VMDHCP_WOL_PASSWORD',
      ExitCode.usage,
    );
  const machines = mac === undefined ? undefined : new Set(mac);
  const handle = await chooseHandling(options, machines);
  const logger = await createLogger(options.logLevel);
  takeListenerCapabilities({ frames: options.frames, udpPorts: options.port }, logger);
  const asked = stopSignal();
  const agent = await WakeAgent.start(
    {
      patterns: options.interface,
      udpPorts: options.port,
      frames: options.frames,
      promiscuous: options.promiscuous === true,
      machines,
      password,
      windowMs: options.window * 1000,
      handle,
      http: http === 'off' ? undefined : http,
    },
    logger,
  );
  if (asked.aborted) await agent.stop();
  else asked.addEventListener('abort', () => void agent.stop(), { once: true });
}

/** Loads only what is used: gRPC needs more memory than the rest of the agent. */
async function chooseHandling(
  { exec, manager, nodeName, tlsDir, clearText = false, port, passwordSecret }: WolOptions,
  machines: ReadonlySet<MacAddress> | undefined,
): Promise<WakeAgentSettings['handle']> {
  if (manager === undefined) {
    if (tlsDir !== undefined || clearText || passwordSecret !== undefined)
      throw new CommandError('--tls-dir, --clear-text and --password-secret need --manager', ExitCode.usage);
    const { handleByCommand, WakeCommand } = await import('@vmdhcp/wake-on-lan/linux');
    const command = exec === undefined ? undefined : new WakeCommand(exec);
    return (hearing, logger) => handleByCommand(command, hearing, logger);
  }
  if (nodeName === undefined) throw new CommandError('--manager needs --node-name, or the variable NODE_NAME', ExitCode.usage);
  if ((tlsDir === undefined) !== clearText)
    throw new CommandError('--manager needs either --tls-dir or --clear-text', ExitCode.usage);
  const { handleByManager } = await import('@vmdhcp/wake-on-lan/linux/by-manager');
  const settings = { manager, nodeName, passwordSecret, tlsDirectory: tlsDir, machines, udpPorts: port };
  return (hearing, logger) => handleByManager(settings, hearing, logger);
}
