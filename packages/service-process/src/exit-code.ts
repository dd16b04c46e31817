/** How the process ends, for scripts. Source: sysexits.h. */
export const EXIT_CODES = {
  ok: { code: 0, meaning: 'Done; a server was asked to stop (SIGTERM, SIGINT), and stopped.' },
  failed: {
    code: 1,
    meaning: 'The answer is no, the API server refused, or leadership was lost. A bug ends with this code too, and a stack.',
  },
  usage: { code: 64, meaning: 'Wrong usage: an option, an argument or an environment variable. The message names it.' },
  invalidData: { code: 65, meaning: 'A file has problems; the message has each with its line.' },
  noInput: { code: 66, meaning: 'A file does not exist or cannot be read, or there is no way to a cluster.' },
  unavailable: { code: 69, meaning: 'A UDP or TCP port, an interface, another program or the cluster cannot be reached.' },
  cannotCreate: { code: 73, meaning: 'A file, a folder or the output cannot be written.' },
  noPermission: {
    code: 77,
    meaning: 'The cluster does not let this user read or write what is needed. The message names the right.',
  },
  nodeTooOld: { code: 78, meaning: 'Node is older than 22.19.' },
} as const satisfies Readonly<Record<string, { readonly code: number; readonly meaning: string }>>;

type Codes = { readonly [Name in keyof typeof EXIT_CODES]: (typeof EXIT_CODES)[Name]['code'] };

/** Only the numbers. */
export const ExitCode = Object.fromEntries(Object.entries(EXIT_CODES).map(([name, { code }]) => [name, code])) as Codes;

/** Ends a command with a message for the person who started it. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
