/** How the process ends, for scripts. Source: sysexits.h. */
export const ExitCode = {
  ok: 0,
  /** What was asked about is not as it should be. */
  failed: 1,
  usage: 64,
  /** A file holds what cannot be used. */
  invalidData: 65,
  /** A file is not there or cannot be read. */
  noInput: 66,
  /** A port, an interface or another program cannot be reached. */
  unavailable: 69,
  /** A file or folder cannot be written. */
  cannotCreate: 73,
} as const;

/** Ends a command with a message for the person who started it. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
