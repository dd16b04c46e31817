import type { LogLevel } from '@vmdhcp/service-process';

interface LogLevelOptions {
  readonly logLevel: LogLevel;
  readonly debug?: boolean;
  readonly trace?: boolean;
}

/** How much a controller logs: the most that a flag or a variable asks for. */
export function logLevelOf(
  { trace, debug, logLevel }: LogLevelOptions,
  environment: Readonly<Record<string, string | undefined>>,
): LogLevel {
  if (trace || isTrue(environment['VM_DHCP_CONTROLLER_TRACE'])) return 'trace';
  return debug || isTrue(environment['VM_DHCP_CONTROLLER_DEBUG']) ? 'debug' : logLevel;
}

/** As Go reads truth: `false` and `0` are none. */
function isTrue(text = ''): boolean {
  return /^(1|t|true)$/i.test(text);
}
