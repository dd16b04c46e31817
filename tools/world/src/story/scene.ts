/** The stage for acts, and their random choices. */
import type { World } from '../cluster/world.js';

/** @returns a description for people; undefined if the act was impossible. */
export type Act = (story: Scene) => Promise<string | undefined> | string | undefined;

/** The stage of an act. */
export interface Scene {
  readonly world: World;
  /** The next number of this story. */
  readonly next: () => number;
  /** When each act last happened, by name, in milliseconds of simulated time. */
  readonly lastMs: ReadonlyMap<string, number>;
  /** Undoes it after a while, or when the world is healed. */
  readonly later: (mostMs: number, undo: () => void) => void;
}

/** True if an admission webhook refused a request, in the words of an API server. */
export function isDenied(error: unknown): error is Error {
  return error instanceof Error && /admission webhook "[^"]+" denied the request/.test(error.message);
}

export function one<Thing>({ world }: Scene, things: readonly Thing[]): Thing | undefined {
  return things.length === 0 ? undefined : things[world.random(things.length)];
}

/** Shuffles, independent of the engine's sort. */
export function shuffled<Thing>({ world }: Scene, things: readonly Thing[]): Thing[] {
  const left = [...things];
  return things.flatMap(() => left.splice(world.random(left.length), 1));
}

export function chance({ world }: Scene, perCent: number): boolean {
  return world.random(100) < perCent;
}
