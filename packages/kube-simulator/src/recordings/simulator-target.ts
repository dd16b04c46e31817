import type { RecordingTarget } from './recording-target.js';

/** A fresh simulator. */
export function startSimulatorTarget(): Promise<RecordingTarget> {
  throw new Error('there is no simulator yet');
}
