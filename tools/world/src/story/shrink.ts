import type { Law } from '../auditor/auditor.js';
import { playStory, type StorySettings } from './story.js';

/**
 * Leaves out acts of a story as long as the same law is broken: halves first, then smaller parts, then single acts.
 *
 * @param mostPlays - the maximum number of stories to play.
 * @returns the numbers of acts that the story does not need.
 */
export async function shrinkStory(
  settings: StorySettings,
  { law, actNumbers, mostPlays }: { readonly law: Law; readonly actNumbers: number; readonly mostPlays: number },
): Promise<ReadonlySet<number>> {
  let without: ReadonlySet<number> = new Set();
  let plays = 0;
  for (let size = Math.ceil(actNumbers / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < actNumbers; from += size) {
      const more = Array.from({ length: size }, (_, index) => from + index).filter((number) => !without.has(number));
      if (more.length === 0) continue;
      if (plays++ >= mostPlays) return without;
      const tried = new Set([...without, ...more]);
      const { violations } = await playStory({ ...settings, without: tried });
      if (violations.some((one) => one.law === law)) without = tried;
    }
  }
  return without;
}
