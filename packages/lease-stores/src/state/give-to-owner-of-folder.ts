import { fchownSync, statSync } from 'node:fs';

/**
 * Gives a new file to the owner of its folder: what root writes into the state directory of a service must stay writable for the service.
 *
 * @param file - the descriptor of a file that this process has created: the owner of the folder cannot have chosen it.
 */
export function giveToOwnerOfFolder(file: number, folder: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(folder);
  if (uid === 0) return;
  try {
    fchownSync(file, uid, gid);
  } catch {
    // Root without CAP_CHOWN, or of a user namespace that does not have the owner, runs the service itself.
  }
}
