/** What virtual machines hear of an IPPool whose settings are invalid. It stays true when its problems become others. */
export function describeInvalidPool(poolKey: string): string {
  return `IPPool ${poolKey} is invalid, so nothing new is allocated; its condition CacheReady names the problems`;
}
