/** Whatever happens to the controller, its writes and its watches: no address gets two owners, leaks or changes. */
import { readField } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { playCrashStory, playKilledAt, type Sabotage, writesOfCrashStory } from './crash-story-fixtures.js';

describe('the controller is killed at every write in turn', () => {
  it.each(['lost-request', 'lost-answer'] as const)('%s', async (fault) => {
    const writes = await writesOfCrashStory();
    expect(writes).toBeGreaterThan(10);
    for (let killAt = 1; killAt <= writes; killAt++) expect(await playKilledAt(killAt, fault), `at write ${killAt}`).toEqual([]);
  });
});

/** `npm test -- seeds` plays thousands. */
describe('six seeds of lost writes, conflicts, dropped watches, forgotten history and restarts', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed))('seed %i', async (seed) => {
    expect(await playCrashStory(seed)).toEqual([]);
  });
});

type Recorded = Readonly<Record<string, string | null>>;

/** Changes the addresses in the controller's writes to an IPPool. */
function recordsInstead(change: (patch: Recorded, stored: Recorded) => Recorded): Sabotage {
  return ({ cluster: { ipPools } }) => {
    const { patchStatus } = ipPools;
    const allocatedIn = (status: unknown) => readField(status, 'ipv4', 'allocated') as Recorded | undefined;
    (ipPools as { patchStatus: typeof patchStatus }).patchStatus = (target, patch) => {
      const status = readField(patch, 'status') as { readonly ipv4?: object };
      const allocated = allocatedIn(status);
      if (allocated === undefined) return patchStatus(target, patch);
      const changed = change(allocated, allocatedIn(ipPools.objects.get(target.key)?.status) ?? {});
      return patchStatus(target, { status: { ...status, ipv4: { ...status.ipv4, allocated: changed } } });
    };
  };
}

const assignsNothing = recordsInstead(() => ({}));
const freesNothing = recordsInstead((patch) => Object.fromEntries(Object.entries(patch).filter(([, owner]) => owner !== null)));
const givesAwayWhatOthersHave = recordsInstead((patch, stored) => {
  const [owner] = Object.values(patch).filter((value) => value !== null);
  const [taken] = Object.keys(stored);
  return owner === undefined || taken === undefined ? patch : { ...patch, [taken]: owner };
});

describe('crash stories find a controller that', () => {
  it.each([0, 1, 2, 3, 4])('assigns no address (seed %i)', async (seed) => {
    const messages = (await playCrashStory(seed, assignsNothing)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/could have default\/net-.* and does not$/));
  });

  it('assigns no address after it was killed', async () => {
    const messages = (await playKilledAt(5, 'lost-answer', assignsNothing)).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(/^vm-a could have/));
  });

  it('frees no address', async () => {
    expect((await playCrashStory(2, freesNothing)).map(({ kind }) => kind)).toContain('leak');
  });

  it('gives a machine the address of another one', async () => {
    expect((await playCrashStory(1, givesAwayWhatOthersHave)).map(({ kind }) => kind)).toContain('double-owner');
  });
});
