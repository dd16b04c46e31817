import type { ReplayedScenario } from './replayed-scenario.js';

/** An action of the recorder that the transcript does not contain. Its promise is awaited. */
export type HiddenStep = (scenario: ReplayedScenario) => unknown;
