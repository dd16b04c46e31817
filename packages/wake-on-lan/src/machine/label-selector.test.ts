import { describe, expect, it } from 'vitest';
import { type LabelSelector, selects, unknownOperators } from './label-selector.js';

const LABELS = { app: 'db', tier: '' };
const expression = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

describe('selects (Kubernetes, "Labels and Selectors")', () => {
  it.each<[LabelSelector, boolean]>([
    [{}, true],
    [{ matchLabels: { app: 'db' } }, true],
    [{ matchLabels: { app: 'db', zone: 'a' } }, false],
    [{ matchLabels: { toString: 'x' } }, false],
    [expression('app', 'In', ['web', 'db']), true],
    [expression('app', 'In'), false],
    [expression('zone', 'In', ['a']), false],
    [expression('app', 'NotIn', ['db']), false],
    [expression('zone', 'NotIn', ['a']), true],
    [expression('tier', 'Exists'), true],
    [expression('toString', 'Exists'), false],
    [expression('tier', 'DoesNotExist'), false],
    [expression('zone', 'DoesNotExist'), true],
    [expression('app', 'Near', ['db']), false],
    [{ matchLabels: { app: 'db' }, ...expression('zone', 'Exists') }, false],
  ])('%j: %s', (selector, expected) => {
    expect(selects(selector, LABELS)).toBe(expected);
  });

  it('operators that Kubernetes does not have are named', () => {
    expect(unknownOperators(expression('app', 'Near'))).toEqual(['Near']);
    expect(unknownOperators(expression('app', 'In'))).toEqual([]);
  });
});
