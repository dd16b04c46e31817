import { runProgram } from '@vmdhcp/service-process';
import { program } from './program.js';

/** Runs the command line; sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  await runProgram(program, argv);
}
