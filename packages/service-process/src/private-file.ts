/** Files with what only one person should see. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, statSync } from 'node:fs';
import { CommandError, ExitCode } from './exit-code.js';

/**
 * Opens a file for writing, and creates it. What is in it stays until it is truncated. A file that was there becomes private, too; a named pipe
 * or a device stays as it is.
 *
 * @throws CommandError if it cannot be opened, belongs to another user, or is a named pipe without a reader, for whom the process would wait.
 */
export function openPrivateFile(path: string): { readonly fd: number; readonly isRegular: boolean } {
  try {
    const fd = openForWriting(path);
    try {
      return { fd, isRegular: makePrivate(path, fd) };
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  } catch (error) {
    throw error instanceof CommandError ? error : cannotWrite(path, error);
  }
}

/** A named pipe without a reader is an error (ENXIO): to open it would stop this process until there is one. */
function openForWriting(path: string): number {
  if (statSync(path, { throwIfNoEntry: false })?.isFIFO() !== true)
    return openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600);
  const probe = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    return openSync(path, constants.O_WRONLY);
  } finally {
    closeSync(probe);
  }
}

/** The owner could read it, whoever writes. Returns true for a regular file. */
function makePrivate(path: string, fd: number): boolean {
  const found = fstatSync(fd);
  if (!found.isFile()) return false;
  const user = process.geteuid?.();
  if (user !== undefined && found.uid !== user)
    throw new CommandError(
      `${path} belongs to another user (${found.uid}), who could read what is written: give a file of your own`,
      ExitCode.cannotCreate,
    );
  fchmodSync(fd, 0o600);
  return true;
}

/** @param error - of the file system. */
export function cannotWrite(path: string, error: unknown): CommandError {
  const { code, message } = error as NodeJS.ErrnoException;
  const remedy =
    code === 'ENXIO'
      ? 'this is a named pipe without a reader: start the reader first'
      : 'give a writable file on a disk with free space';
  return new CommandError(`${path}: ${message}; ${remedy}`, ExitCode.cannotCreate, { cause: error });
}
