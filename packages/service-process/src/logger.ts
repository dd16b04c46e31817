import { type Logger, pino } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type { Logger };

/** A logger to standard output: lines for a person on a terminal, JSON elsewhere. */
export async function createLogger(level: LogLevel): Promise<Logger> {
  if (!process.stdout.isTTY) {
    return pino({
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    });
  }
  const { default: pretty } = await import('pino-pretty');
  return pino({ level, base: null }, pretty({ translateTime: 'SYS:HH:MM:ss.l', sync: true }));
}
