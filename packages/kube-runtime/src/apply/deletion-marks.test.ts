import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { DeletionMarks } from './deletion-marks.js';

const AT = '2026-01-01T00:00:00Z';
const deployment = (uid: string | undefined, more: Partial<KubernetesObject['metadata']> = {}): KubernetesObject => ({
  metadata: { namespace: 'default', name: 'agent', uid, labels: { app: 'agent' }, ...more },
  spec: { replicas: 2 },
});

describe('DeletionMarks', () => {
  it('an object that was deleted is shown as being deleted, and is otherwise as it was', () => {
    const marks = new DeletionMarks();
    const object = deployment('u1');
    expect(marks.marked('Deployment', object)).toBe(object);
    marks.add('Deployment', object, AT);
    expect(marks.marked('Deployment', object)).toEqual(deployment('u1', { deletionTimestamp: AT }));
  });

  it.each<[string, string, KubernetesObject]>([
    ['of another kind', 'Service', deployment('u1')],
    ['of another name', 'Deployment', deployment('u1', { name: 'other' })],
    ['of another namespace', 'Deployment', deployment('u1', { namespace: 'other' })],
    ['of the same name that was created since', 'Deployment', deployment('u2')],
    ['without a uid', 'Deployment', deployment(undefined)],
    ['whose deletion the server shows', 'Deployment', deployment('u1', { deletionTimestamp: '2026-02-02T00:00:00Z' })],
  ])('an object %s stays as it is', (_, kind, object) => {
    const marks = new DeletionMarks();
    marks.add('Deployment', deployment('u1'), AT);
    expect(marks.marked(kind, object)).toBe(object);
  });

  it('an object without a uid is not marked: one that is created after it looks the same', () => {
    const marks = new DeletionMarks();
    marks.add('Deployment', deployment(undefined), AT);
    const object = deployment(undefined);
    expect(marks.marked('Deployment', object)).toBe(object);
  });

  it.each<[string, KubernetesObject | undefined]>([
    ['is gone', undefined],
    ['is seen as being deleted', deployment('u1', { deletionTimestamp: AT })],
    ['has another uid', deployment('u2')],
  ])('the mark is forgotten when the object %s', (_, seen) => {
    const marks = new DeletionMarks();
    marks.add('Deployment', deployment('u1'), AT);
    marks.seen('Deployment', 'default/agent', seen);
    const object = deployment('u1');
    expect(marks.marked('Deployment', object)).toBe(object);
  });

  it('the mark stays while the object is seen as it was, and whatever is seen of other objects', () => {
    const marks = new DeletionMarks();
    marks.add('Deployment', deployment('u1'), AT);
    marks.seen('Deployment', 'default/agent', deployment('u1'));
    marks.seen('Service', 'default/agent', undefined);
    marks.seen('Deployment', 'default/other', undefined);
    expect(marks.marked('Deployment', deployment('u1'))).toEqual(deployment('u1', { deletionTimestamp: AT }));
  });
});
