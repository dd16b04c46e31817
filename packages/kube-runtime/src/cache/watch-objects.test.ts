import { expect, it } from 'vitest';
import type { ApiResource } from '../api/api-resource.js';
import { FakeClock } from '../testing/fake-clock.js';
import { MemoryResource } from '../testing/memory-resource.js';
import { watchObjects } from './watch-objects.js';

const SECRETS: ApiResource = { group: '', version: 'v1', plural: 'secrets', namespaced: true, namespace: 'system' };

it('reports each change of the named objects, and requests only their metadata', async () => {
  const clock = new FakeClock();
  const resource = new MemoryResource(clock);
  const opened: ApiResource[] = [];
  let changes = 0;
  const open = (one: ApiResource) => {
    opened.push(one);
    return resource;
  };
  const watched = watchObjects([{ ...SECRETS, name: 'ca' }], { open, clock, random: () => 0, onChange: () => changes++ });
  expect(watched.isComplete()).toBe(false);
  watched.start();
  await clock.advance(1_000);
  expect([watched.isComplete(), changes]).toEqual([true, 0]);
  expect(opened).toEqual([{ ...SECRETS, fieldSelector: 'metadata.name=ca', metadataOnly: true }]);
  resource.put({ metadata: { namespace: 'system', name: 'ca' } });
  await clock.advance(1_000);
  expect(changes).toBe(1);
  watched.stop();
});

it('is not complete while a list or watch fails, for example without the right to it', async () => {
  const clock = new FakeClock();
  const resource = new MemoryResource(clock);
  resource.failNext = 2;
  const seen: boolean[] = [];
  const watched = watchObjects([{ ...SECRETS, name: 'ca' }], {
    ...{ open: () => resource, clock, random: () => 0 },
    onChange: () => seen.push(watched.isComplete()),
  });
  watched.start();
  await clock.advance(50);
  // Called once: from then on its user looks by itself.
  expect(seen).toEqual([false]);
  expect(watched.isComplete()).toBe(false);
  await clock.advance(60_000);
  expect(watched.isComplete()).toBe(true);
  watched.stop();
});
