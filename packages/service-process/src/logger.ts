import type { Logger } from 'pino';
import { describeRecord } from './describe-record.js';

/** How much is logged, the most first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
/** How much is logged. */
export type LogLevel = (typeof LOG_LEVELS)[number];
export type { Logger };

/** A logger to standard output: a line for each event, for a person on a terminal, and JSON elsewhere. */
export async function createLogger(level: LogLevel, output: NodeJS.WriteStream = process.stdout): Promise<Logger> {
  // Loaded here, so that only a command that logs loads it.
  const { pino } = await import('pino');
  if (!output.isTTY) {
    return pino(
      {
        level,
        base: null,
        formatters: { level: (label) => ({ level: label }) },
        timestamp: pino.stdTimeFunctions.isoTime,
      },
      ...(output === process.stdout ? [] : [output]),
    );
  }
  const { default: pretty } = await import('pino-pretty');
  const lines = pretty({
    translateTime: 'SYS:HH:MM:ss.l',
    sync: true,
    hideObject: true,
    // The host name of a lease, not of the machine that logs.
    ignore: 'pid,hostname',
    messageFormat: (record) => describeRecord(record),
    ...(output !== process.stdout && { destination: output }),
  });
  return pino({ level, base: null }, lines);
}
