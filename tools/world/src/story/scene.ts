/** Where acts take place, and how they choose what they happen to. */
import type { World } from '../cluster/world.js';

/** @returns what happened, for people; undefined: there was nothing that it could happen to. */
export type Act = (story: Scene) => Promise<string | undefined> | string | undefined;

/** Where an act takes place. */
export interface Scene {
  readonly world: World;
  /** The next number of this story. */
  readonly next: () => number;
  /** When acts last happened, by name, in milliseconds of simulated time. */
  readonly lastMs: ReadonlyMap<string, number>;
  /** Undoes it after a while, or when the world is healed. */
  readonly later: (mostMs: number, undo: () => void) => void;
}

export function one<Thing>({ world }: Scene, things: readonly Thing[]): Thing | undefined {
  return things.length === 0 ? undefined : things[world.random(things.length)];
}

/** In a random order, which no engine's way to sort decides. */
export function shuffled<Thing>({ world }: Scene, things: readonly Thing[]): Thing[] {
  const left = [...things];
  return things.flatMap(() => left.splice(world.random(left.length), 1));
}

export function chance({ world }: Scene, perCent: number): boolean {
  return world.random(100) < perCent;
}
