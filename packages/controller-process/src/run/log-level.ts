import type { LogLevel } from '@vmdhcp/service-process';

interface LogLevelOptions {
  readonly logLevel: LogLevel;
  readonly debug?: boolean;
  readonly trace?: boolean;
}

/** How much a controller logs: the highest level that a flag or a variable sets. */
export function logLevelOf(
  { trace, debug, logLevel }: LogLevelOptions,
  environment: Readonly<Record<string, string | undefined>>,
): LogLevel {
  if (trace || isTrue(environment['VM_DHCP_CONTROLLER_TRACE'])) return 'trace';
  return debug || isTrue(environment['VM_DHCP_CONTROLLER_DEBUG']) ? 'debug' : logLevel;
}

/** Like booleans in Go: `false` and `0` are false. */
function isTrue(text = ''): boolean {
  return /^(1|t|true)$/i.test(text);
}
