import { describe, expect, it } from 'vitest';
import {
  playGroupRightsSwitches,
  playTopologySwitch,
  playTopologySwitches,
  TOPOLOGY_SWITCHES,
  type TopologyFault,
} from './topology-story-fixtures.js';

/** `npm test -- seeds` plays thousands. */
const SEEDS = 1;

describe('a switch of the topology, in steps that come in any order', () => {
  it.each(TOPOLOGY_SWITCHES.flatMap(([from, to]) => [3, 10].map((count) => [from, to, count] as const)))(
    'from %s to %s: each of %i pools is interrupted at most once, and never served by two',
    (from, to, count) => expect(faults(SEEDS, (seed) => playTopologySwitch([from, to], count, seed))).toEqual([]),
  );

  it('one after the other, also before the last one is over, while agents die and freeze: never served by two, and served in the end', () => {
    expect(faults(2 * SEEDS, playTopologySwitches)).toEqual([]);
  });

  it.each([false, true])('with rights of their own, while Leases are deleted by hand; agents die and freeze: %s', (crashes) => {
    expect(faults(4 * SEEDS, (seed) => playGroupRightsSwitches(seed, crashes))).toEqual([]);
  });
});

function faults(seeds: number, play: (seed: number) => TopologyFault[]): string[] {
  return Array.from({ length: seeds }, (_, seed) =>
    play(seed).map(({ kind, message }) => `seed ${seed}: ${kind}: ${message}`),
  ).flat();
}
