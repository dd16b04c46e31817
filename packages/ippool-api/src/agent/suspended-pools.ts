/**
 * Pools that are suspended for a group: its agents must not serve them now, because another group may still serve them. The controller writes them
 * into one annotation of the group's Lease; the leader confirms in another one which text it has read and obeys.
 */
import { fieldsOf, itemsOf, parseJson } from './read-json.js';

/** The pools that are suspended, and since when. */
export interface SuspendedPools {
  /** Counts the texts of the annotation. */
  readonly turn: number;
  /** By pool (`namespace/name`): the turn since which it has been suspended without a break. */
  readonly since: ReadonlyMap<string, number>;
}

/**
 * The next text of the annotation: `turn` counts its texts, and `since` has for each of `pools` the turn since which it has been suspended without a
 * break. A leader that has read a later turn obeys the earlier ones too, so one more pool does not invalidate its report about the others.
 *
 * @param before - the current text of the annotation.
 */
export function formatSuspendedPools(poolKeys: Iterable<string>, before?: string): string {
  const known = readSuspendedPools(before);
  const turn = known.turn + 1;
  const pools = [...poolKeys].toSorted();
  return JSON.stringify({ turn, pools, since: pools.map((key) => known.since.get(key) ?? turn) });
}

/** The suspended pools; empty if the text cannot be read. Never throws. */
export function parseSuspendedPools(text: string | undefined): ReadonlySet<string> {
  return new Set(readSuspendedPools(text).since.keys());
}

/** Earlier controllers wrote no turn for each pool: then each pool gets the turn of the text. Never throws. */
export function readSuspendedPools(text: string | undefined): SuspendedPools {
  const value = fieldsOf(parseJson(text));
  const turn = toNumber(value['turn']) ?? 0;
  const turns = itemsOf(value['since']);
  const since = itemsOf(value['pools']).flatMap((key, index) =>
    typeof key === 'string' ? [[key, toNumber(turns[index]) ?? turn] as const] : [],
  );
  return { turn, since: new Map(since) };
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
