import type { StoryOutcome } from './story/story.js';

/** The combined results of stories. */
export class Totals {
  stories = 0;
  broken = 0;
  virtualMs = 0;
  readonly acts = new Map<string, number>();
  readonly checked = new Map<string, number>();

  note({ violations, virtualMs, acts, checked }: StoryOutcome): void {
    this.stories++;
    this.virtualMs += virtualMs;
    if (violations.length > 0) this.broken++;
    for (const [what, times] of acts) add(this.acts, what, times);
    for (const [what, times] of checked) add(this.checked, what, times);
  }

  toJson(): object {
    const { stories, broken, virtualMs } = this;
    return { stories, broken, virtualHours: virtualMs / 3_600_000, acts: sorted(this.acts), checked: sorted(this.checked) };
  }
}

export function formatTotals(totals: Totals, { first, seconds }: { readonly first: number; readonly seconds: number }): string {
  const { stories, broken, virtualMs } = totals;
  const hours = (virtualMs / 3_600_000).toFixed(1);
  return [
    'what happened:',
    ...linesOf(totals.acts),
    'what the auditor looked at:',
    ...linesOf(totals.checked),
    `${stories} ${stories === 1 ? 'story' : 'stories'} from seed ${first}: ${hours} hours of simulated time in ${seconds.toFixed(0)} s`,
    broken === 0 ? 'no law was broken' : `laws were broken in ${broken} of ${stories}`,
  ].join('\n');
}

function linesOf(counts: ReadonlyMap<string, number>): string[] {
  return Object.entries(sorted(counts)).map(([what, times]) => `${String(times).padStart(9)}  ${what}`);
}

function sorted(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([one], [other]) => one.localeCompare(other)));
}

function add(counts: Map<string, number>, what: string, times: number): void {
  counts.set(what, (counts.get(what) ?? 0) + times);
}
