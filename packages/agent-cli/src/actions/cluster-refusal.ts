import type { ApiRequestError } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';

/** A failed request as the error of a command. @param objects - what was read or written, in the plural: `HostStatus objects`. */
export function clusterRefusal(error: ApiRequestError, objects: string): CommandError {
  const isRight = error.status === 403 || error.status === 401;
  const code = isRight ? ExitCode.noPermission : ExitCode.unavailable;
  return new CommandError(`${objects} cannot be read or written: ${error.message}`, code, { cause: error });
}
