import { describe, expect, it } from 'vitest';
import { OwnerIndex } from './owner-index.js';
import { type OwnerState, planCollection } from './plan-collection.js';
import type { KubeObject, OwnerReference } from './workload-kinds.js';

const owner = (uid: string, blockOwnerDeletion = false): OwnerReference => {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, blockOwnerDeletion };
};

const object = (uids: string[], metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ownerReferences: uids.map((uid) => owner(uid)), ...metadata },
});

describe('an object whose owners are', () => {
  it.each<[OwnerState[], object]>([
    [[], { kind: 'nothing' }],
    [['present'], { kind: 'nothing' }],
    [['absent'], { kind: 'delete', propagationPolicy: 'Background' }],
    [['absent', 'absent'], { kind: 'delete', propagationPolicy: 'Background' }],
    [['present', 'absent'], { kind: 'release', uids: new Set(['o1']) }],
    [['deleting', 'present'], { kind: 'release', uids: new Set(['o0']) }],
    [['absent', 'unknown'], { kind: 'nothing' }],
    [['deleting'], { kind: 'delete', propagationPolicy: 'Background' }],
  ])('%j', (states, action) => {
    const uids = states.map((_, index) => `o${index}`);
    expect(planCollection(object(uids), ({ uid }) => states[uids.indexOf(uid)] ?? 'unknown', false)).toEqual(action);
  });

  it('going is deleted in the foreground if dependents block it', () => {
    expect(planCollection(object(['a']), () => 'deleting', true)).toEqual({ kind: 'delete', propagationPolicy: 'Foreground' });
  });

  it('gone is not deleted twice', () => {
    expect(planCollection(object(['a'], { deletionTimestamp: 'now' }), () => 'absent', false)).toEqual({ kind: 'nothing' });
  });
});

describe('the index of owners', () => {
  it('follows objects as they come, change and go', () => {
    const index = new OwnerIndex();
    index.put('a', 'at a', []);
    index.put('b', 'at b', [owner('a', true)]);
    index.put('c', 'at c', [owner('a'), owner('b')]);
    expect(index.dependentsOf('a')).toEqual(['at b', 'at c']);
    expect(index.blockersOf('a')).toEqual(['at b']);
    index.put('b', 'at b', []);
    expect(index.dependentsOf('a')).toEqual(['at c']);
    index.remove('a');
    expect(index.locate('a')).toBeUndefined();
    expect(index.dependentsOf('a'), 'an owner that is gone still has dependents').toEqual(['at c']);
    index.remove('c');
    expect(index.dependentsOf('a')).toEqual([]);
    expect(index.dependentsOf('b')).toEqual([]);
  });
});
