import { describe, expect, it } from 'vitest';
import { ResourceVersionOrder, type VersionOf } from './resource-version-order.js';

type Pair = readonly [recorded: string, got: string, of: VersionOf];

describe('resourceVersions of a transcript and those of this run', () => {
  it.each<[string, readonly Pair[], boolean]>([
    [
      'two objects in order',
      [
        ['5', '50', 'object'],
        ['9', '51', 'object'],
      ],
      true,
    ],
    [
      'two objects in the wrong order',
      [
        ['5', '50', 'object'],
        ['9', '49', 'object'],
      ],
      false,
    ],
    [
      'two writes with one version',
      [
        ['5', '50', 'object'],
        ['9', '50', 'object'],
      ],
      false,
    ],
    [
      'one write with two versions',
      [
        ['5', '50', 'object'],
        ['5', '51', 'object'],
      ],
      false,
    ],
    [
      'a list as new as the newest object in it',
      [
        ['5', '50', 'object'],
        ['7', '50', 'list'],
      ],
      true,
    ],
    [
      'a list older than an object in it',
      [
        ['5', '50', 'object'],
        ['7', '49', 'list'],
      ],
      false,
    ],
    [
      'a list that saw what was written after it',
      [
        ['7', '50', 'list'],
        ['9', '50', 'object'],
      ],
      false,
    ],
    [
      'a list between two writes',
      [
        ['5', '50', 'object'],
        ['7', '50', 'list'],
        ['9', '51', 'object'],
      ],
      true,
    ],
    [
      'two lists that nothing came between',
      [
        ['5', '50', 'list'],
        ['7', '50', 'list'],
      ],
      true,
    ],
    [
      'a list newer than recorded',
      [
        ['5', '50', 'list'],
        ['5', '55', 'list'],
      ],
      true,
    ],
    ['no number', [['5', '', 'object']], false],
  ])('%s: %#', (_name, pairs, fits) => {
    const order = new ResourceVersionOrder();
    const contradictions = pairs
      .map(([recorded, got, of]) => order.learn([recorded, got], of))
      .filter((text) => text !== undefined);
    expect(contradictions.length === 0).toBe(fits);
  });

  it('need the order of one object only where controllers write at their own pace', () => {
    const order = new ResourceVersionOrder(true);
    order.learn(['5', '50'], 'object', 'a');
    expect(order.learn(['9', '49'], 'object', 'b')).toBeUndefined();
    expect(order.learn(['8', '48'], 'object', 'a')).toBeDefined();
  });

  it('sends what stands for a version, else the newest before it, else nothing', () => {
    const order = new ResourceVersionOrder();
    order.learn(['5', '50'], 'object');
    order.learn(['9', '60'], 'object');
    expect(['5', '7', '9', '12', '1'].map((version) => order.toSend(version))).toEqual(['50', '50', '60', undefined, undefined]);
  });
});
