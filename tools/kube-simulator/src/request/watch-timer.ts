/**
 * When watches end and send bookmarks.
 * Runs `action` once after `delayMs`, unless the function that is returned was called before.
 */
export type WatchTimer = (delayMs: number, action: () => void) => () => void;

export const realTime: WatchTimer = (delayMs, action) => {
  const timer = setTimeout(action, delayMs);
  return () => clearTimeout(timer);
};
