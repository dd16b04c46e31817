import { type Capability, takeCapabilities } from '@vmdhcp/linux-sockets';
import type { Logger } from '@vmdhcp/service-process';

const FIRST_FREE_PORT = 1024;

/** What an agent needs capabilities for. */
interface Privileges {
  /** Receives requests, and replies in frames. */
  readonly serves: boolean;
  /** Changes addresses and routing rules of interfaces. */
  readonly configures: boolean;
}

/**
 * Enables the capabilities that the agent needs; logs missing ones with the remedy, and continues: the code that needs them
 * reports its own errors.
 */
export function takeAgentCapabilities({ serves, configures }: Privileges, logger: Pick<Logger, 'error'>): void {
  const serving: readonly Capability[] = serves ? ['NET_BIND_SERVICE', 'NET_RAW'] : [];
  take(configures ? [...serving, 'NET_ADMIN'] : serving, logger);
}

/** Does the same for listeners of Wake-on-LAN: frames and UDP ports below 1024 need capabilities. */
export function takeListenerCapabilities(
  { frames, udpPorts }: { readonly frames: boolean; readonly udpPorts: readonly number[] },
  logger: Pick<Logger, 'error'>,
): void {
  const binding: readonly Capability[] = udpPorts.some((port) => port < FIRST_FREE_PORT) ? ['NET_BIND_SERVICE'] : [];
  take(frames ? [...binding, 'NET_RAW'] : binding, logger);
}

function take(capabilities: readonly Capability[], logger: Pick<Logger, 'error'>): void {
  const missing = takeCapabilities(capabilities);
  if (missing.length === 0) return;
  const names = missing.map((capability) => `CAP_${capability}`).join(', ');
  logger.error(
    { missing },
    `The agent may not use ${names}. In a cluster: add them to securityContext.capabilities of its container; if they are there, use an image whose ` +
      'node has these file capabilities (the image of vmdhcp-agent has), or run the container as user 0. On a host: run it as root or with these capabilities',
  );
}
