import { LAWS } from './auditor/auditor.js';
import { PLANTED_FAULTS } from './planted-faults.js';
import { playStory } from './story/story.js';

/** After this many stories without a violation, a fault counts as not found. */
export const MOST_STORIES = 200;

export interface TriedFault {
  readonly name: string;
  /** Undefined if no law was broken. */
  readonly foundBy: string | undefined;
  readonly stories: number;
}

/** Plants each fault in turn, and plays stories until the auditor finds it. @param first - seed of the first story for each fault. */
export async function* tryFaults(first: number): AsyncGenerator<TriedFault> {
  for (const [name, fault] of Object.entries(PLANTED_FAULTS)) {
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
