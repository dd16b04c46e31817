import { describe, expect, it } from 'vitest';
import { isSameQuantity } from './quantity.js';

describe('quantities of Kubernetes', () => {
  it.each<[unknown, unknown, boolean]>([
    ['0.5', '500m', true],
    [1, '1', true],
    ['1024Mi', '1Gi', true],
    ['1e3', '1k', true],
    ['128Mi', '128M', false],
    ['100m', '50m', false],
    ['0', '0', true],
    ['odd', 'odd', false],
    ['1x', '1', false],
    ['', '', false],
    [undefined, '1', false],
  ])('%s and %s: %s', (one, other, expected) => {
    expect(isSameQuantity(one, other)).toBe(expected);
  });
});
