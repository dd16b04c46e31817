/** Says why a file cannot be written, and what to do. */
export function describeWriteFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk is full (${code}); free space on it`;
  if (code === 'EROFS') return `the file system is read-only (${code}); mount it writable`;
  if (code === 'EACCES' || code === 'EPERM')
    return `permission is denied (${code}); make the folder, and what is in it, writable for this user`;
  return `${message}; look at the disk and free or repair it`;
}
