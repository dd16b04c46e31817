import { expect, it } from 'vitest';
import { type AddedParts, joinParts } from './added-parts.js';

const part = (name: string) => ({
  name,
  start: () => undefined,
  lead: () => undefined,
  stop: async () => undefined,
  unready: () => [],
  synced: true,
});

it('parts that join the process are combined: parts, definitions and annotations of each; undefined if none is requested', () => {
  const heard: string[] = [];
  const added = (name: string): AddedParts => ({
    parts: [part(name)],
    customResources: [],
    leaseAnnotations: () => ({ [name]: 'x' }),
    onLeaseAnnotations: () => void heard.push(name),
  });
  const joined = joinParts([undefined, () => added('a'), () => added('b')])?.({} as never);
  expect(joined?.parts.map(({ name }) => name)).toEqual(['a', 'b']);
  expect(joined?.leaseAnnotations()).toEqual({ a: 'x', b: 'x' });
  joined?.onLeaseAnnotations({});
  expect(heard).toEqual(['a', 'b']);
  expect(joinParts([undefined])).toBeUndefined();
});
