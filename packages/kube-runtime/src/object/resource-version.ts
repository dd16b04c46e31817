/**
 * True if this version of an object is older than the other. Versions of one kind are compared as numbers. The API guarantees that since Kubernetes
 * 1.35, and earlier servers did it too. A text that is not a number is never older.
 */
export function isOlderVersion(version: string, than: string): boolean {
  if (!/^\d+$/.test(version) || !/^\d+$/.test(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
