/**
 * The common behaviour of vmdhcp's processes: exit codes, logs, health and metrics over HTTP, and stopping.
 *
 * @packageDocumentation
 */
export { booleanOption } from './boolean-option.js';
export { type ConnectionLimit, limitConnections } from './connection-limit.js';
export { CommandError, EXIT_CODES, ExitCode } from './exit-code.js';
export {
  formatListenAddress,
  isLoopback,
  type ListenAddress,
  parseListenAddress,
  requiredListenAddress,
} from './listen-address.js';
export { createLogger, LOG_LEVELS, type Logger, type LogLevel } from './logger.js';
export { packageVersion } from './package-version.js';
export { PrintableLines } from './printable-lines.js';
export { escapeUnprintable, printableJson, printableText } from './printable-text.js';
export { cannotWrite, openPrivateFile } from './private-file.js';
export { type Program, runProgram, stopSignal } from './run-program.js';
export {
  type ListeningSocket,
  type PageAnswer,
  type StatusPage,
  type StatusSources,
  startStatusServer,
} from './status-server.js';
