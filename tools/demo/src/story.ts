import type { Lab } from '@vmdhcp/lab';
import type { LiveView } from './live-view.js';

/** What a story is played on: networks and machines of its own, which are gone at its end. */
export interface Stage {
  readonly lab: Lab;
  readonly view: LiveView;
  /** True once the stage is being cleared: what is printed after that is of no interest. */
  readonly isClosing: () => boolean;
  /** Called when the story ends, also by Ctrl-C; what was added last is called first. */
  readonly atEnd: (end: () => Promise<void>) => void;
}

/** Plays something on a stage, and resolves when it is over. */
export type Story = (stage: Stage) => Promise<void>;
