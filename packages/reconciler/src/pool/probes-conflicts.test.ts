import { expect, it } from 'vitest';
import { probesConflicts } from './probes-conflicts.js';

it.each<[spec: unknown, probes: boolean]>([
  [{}, true],
  [undefined, true],
  [{ conflictProbe: 'First' }, true],
  [{ conflictProbe: 'Sometimes' }, true],
  [{ conflictProbe: 'Disabled' }, false],
])('with the spec %j addresses are probed: %s', (spec, probes) => {
  expect(probesConflicts(spec)).toBe(probes);
});
