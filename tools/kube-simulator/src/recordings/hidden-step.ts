import type { ReplayedScenario } from './replayed-scenario.js';

/** What its recorder did that a transcript does not contain. Waited for, whatever it returns. */
export type HiddenStep = (scenario: ReplayedScenario) => unknown;
