import { runProgram } from '@vmdhcp/service-process';
import { program } from './program.js';

/** Runs `kubectl vmdhcp`; sets the exit code of the process. */
export async function main(argv: readonly string[]): Promise<void> {
  await runProgram(program, argv);
}
