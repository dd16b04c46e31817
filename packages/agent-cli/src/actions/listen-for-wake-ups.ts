import type { MacAddress } from '@vmdhcp/dhcp-allocator/address';
import { createLogger, type ListenAddress, type LogLevel, stopSignal } from '@vmdhcp/service-process';
import type { SecureOnPassword } from '@vmdhcp/wake-on-lan';
import { WakeAgent } from '../wake-on-lan/wake-agent.js';
import { WakeCommand } from '../wake-on-lan/wake-command.js';

export interface WolOptions {
  readonly interface: readonly string[];
  readonly port: readonly number[];
  readonly frames: boolean;
  readonly promiscuous?: boolean;
  readonly mac?: readonly MacAddress[];
  readonly password?: SecureOnPassword;
  readonly exec?: string;
  /** Seconds. */
  readonly window: number;
  readonly http: ListenAddress | 'off';
  readonly logLevel: LogLevel;
}

/** Listens until the process is asked to end. @throws CommandError where the HTTP address is in use. */
export async function listenForWakeUps(options: WolOptions): Promise<void> {
  const { mac, exec, http } = options;
  const logger = await createLogger(options.logLevel);
  const asked = stopSignal();
  const agent = await WakeAgent.start(
    {
      patterns: options.interface,
      udpPorts: options.port,
      frames: options.frames,
      promiscuous: options.promiscuous === true,
      machines: mac === undefined ? undefined : new Set(mac),
      password: options.password,
      windowMs: options.window * 1000,
      command: exec === undefined ? undefined : new WakeCommand(exec),
      http: http === 'off' ? undefined : http,
    },
    logger,
  );
  if (asked.aborted) agent.stop();
  else asked.addEventListener('abort', () => agent.stop(), { once: true });
}
