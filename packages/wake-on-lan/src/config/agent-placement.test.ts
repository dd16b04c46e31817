import { describe, expect, it } from 'vitest';
import { type AgentPlacement, coversNodes, DEFAULT_TOLERATIONS, mayShareNodes, type Toleration } from './agent-placement.js';

const on = (nodeSelector: Record<string, string>, ...tolerations: Toleration[]): AgentPlacement => ({
  nodeSelector,
  tolerations,
});
const ZONE_A = { zone: 'a' };

describe('nodes of agents', () => {
  it.each<[AgentPlacement, AgentPlacement, boolean]>([
    [on({}), on({}), true],
    [on({}), on(ZONE_A), true],
    [on(ZONE_A), on({}), false],
    [on(ZONE_A), on({ zone: 'a', disk: 'ssd' }), true],
    [on(ZONE_A), on({ zone: 'b' }), false],
    [on({}), on({}, { key: 'gpu', operator: 'Exists' }), false],
    [on({}, { operator: 'Exists' }), on({}, { key: 'gpu', operator: 'Exists' }), true],
    [on({}, ...DEFAULT_TOLERATIONS), on({}, { key: 'gpu', value: 'x', effect: 'NoSchedule' }), true],
    [on({}, ...DEFAULT_TOLERATIONS), on({}, { key: 'gpu', value: 'x' }), false],
    [on({}, { key: 'gpu', operator: 'Exists' }), on({}, { key: 'gpu', value: 'x', effect: 'NoExecute' }), true],
    [on({}, { key: 'gpu', value: 'x' }), on({}, { key: 'gpu', value: 'x' }), true],
    [on({}, { key: 'gpu', value: 'x' }), on({}, { key: 'gpu', value: 'y' }), false],
    [on({}, { key: 'gpu', value: 'x' }), on({}, { key: 'gpu', operator: 'Exists' }), false],
    [on({}, { key: 'gpu', operator: 'Exists', tolerationSeconds: 60 }), on({}, { key: 'gpu', operator: 'Exists' }), false],
  ])('%j covers %j: %s', (one, other, expected) => {
    expect(coversNodes(one, other)).toBe(expected);
  });

  it.each<[Record<string, string>, Record<string, string>, boolean]>([
    [{}, {}, true],
    [ZONE_A, { disk: 'ssd' }, true],
    [ZONE_A, ZONE_A, true],
    [ZONE_A, { zone: 'b' }, false],
    [{ zone: 'a', disk: 'ssd' }, { disk: 'hdd' }, false],
    [{}, { toString: 'x' }, true],
  ])('%j and %j may be one node: %s', (one, other, expected) => {
    expect(mayShareNodes(on(one), on(other))).toBe(expected);
    expect(mayShareNodes(on(other), on(one))).toBe(expected);
  });
});
