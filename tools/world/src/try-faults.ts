import { LAWS } from './auditor/auditor.js';
import { PLANTED_FAULTS } from './planted-faults.js';
import { playStory } from './story/story.js';

/** After so many stories in which nothing was wrong, a fault counts as not found. */
const MOST_STORIES = 200;

export interface TriedFault {
  readonly name: string;
  /** Undefined if no law was broken. */
  readonly foundBy: string | undefined;
  readonly stories: number;
}

/** A share of the faults, so that several processes try all of them: every `of`th, beginning with this one. */
export interface FaultShare {
  /** 1 up to `of`. */
  readonly number: number;
  readonly of: number;
}

/** Plants each fault in turn, and plays stories until the auditor finds it. @param from - seed of the first story of each; default: its own. */
export async function* tryFaults({ number, of }: FaultShare, from?: number): AsyncGenerator<TriedFault> {
  for (const [name, fault] of Object.entries(PLANTED_FAULTS).filter((_, index) => index % of === number - 1)) {
    const first = from ?? fault.seed ?? 1;
    let stories = 0;
    let foundBy: string | undefined;
    while (foundBy === undefined && stories < MOST_STORIES) {
      const { violations } = await playStory({ seed: first + stories++, fault, endsWhenBroken: true });
      const [broken] = violations;
      foundBy = broken && LAWS[broken.law];
    }
    yield { name, foundBy, stories };
  }
}
