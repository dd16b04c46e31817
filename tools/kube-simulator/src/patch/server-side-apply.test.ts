import { describe, expect, it } from 'vitest';
import { ApiError } from '../api-error.js';
import type { JsonObject } from '../api-object.js';
import { recordUpdate } from './managed-fields.js';
import { applyMergePatch } from './merge-patch.js';
import { type Application, applyConfiguration } from './server-side-apply.js';

const apiVersion = 'pool.example.com/v1';
const conditions = {
  type: 'array',
  items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
};
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { name: { type: 'string' }, paused: { type: 'boolean' }, lease: { type: 'integer' } },
    },
    status: {
      type: 'object',
      properties: {
        atomic: conditions,
        conditions: { ...conditions, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
        allocated: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};

function apply(
  live: JsonObject | undefined,
  manager: string,
  content: JsonObject,
  options: Partial<Application> = {},
): JsonObject {
  const applied = { apiVersion, kind: 'Pool', metadata: { name: 'p' }, ...content };
  return applyConfiguration({ live, applied, manager, schema, time: 't2', ...options });
}

function ownersOf(object: JsonObject): unknown[] {
  const entries = (object['metadata'] as JsonObject)['managedFields'] as JsonObject[];
  return entries.map(({ manager, operation, time, subresource, fieldsV1 }) => [
    manager,
    operation,
    time,
    ...(subresource === undefined ? [] : [subresource]),
    fieldsV1,
  ]);
}

function failureOf(act: () => unknown): ApiError['failure'] {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error.failure;
    throw error;
  }
  throw new Error('it did not fail');
}

const created = apply(
  undefined,
  'ctl',
  { metadata: { name: 'p', labels: { app: 'x' } }, spec: { name: 'n', lease: 300 } },
  { time: 't1' },
);

describe('server-side apply', () => {
  it('owns what it names, leaves only', () => {
    expect(ownersOf(created)).toEqual([
      ['ctl', 'Apply', 't1', { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:spec': { 'f:lease': {}, 'f:name': {} } }],
    ]);
  });

  it('does not write if the content is the same', () => {
    expect(apply(created, 'ctl', { metadata: { name: 'p', labels: { app: 'x' } }, spec: { name: 'n', lease: 300 } })).toBe(
      created,
    );
  });

  it('removes a field that its only owner no longer names, with the objects that became empty', () => {
    const after = apply(created, 'ctl', { spec: { name: 'n' } });
    expect(after['spec']).toEqual({ name: 'n' });
    expect((after['metadata'] as JsonObject)['labels']).toBeUndefined();
    expect((after['metadata'] as JsonObject)['name']).toBe('p');
  });

  it('shares ownership of an equal value; a manager that changes nothing has no time', () => {
    const shared = apply(created, 'other', { spec: { lease: 300 } });
    expect(ownersOf(shared)).toEqual([['other', 'Apply', undefined, { 'f:spec': { 'f:lease': {} } }], ...ownersOf(created)]);
    expect(apply(shared, 'ctl', { spec: { name: 'n' } })['spec']).toEqual({ name: 'n', lease: 300 });
  });

  it('conflicts with each owner of a field that would change', () => {
    expect(failureOf(() => apply(created, 'other', { spec: { lease: 60 } }))).toEqual({
      code: 409,
      reason: 'Conflict',
      message: 'Apply failed with 1 conflict: conflict with "ctl": .spec.lease',
      details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "ctl"', field: '.spec.lease' }] },
    });
    const shared = apply(created, 'other', { spec: { lease: 300 } });
    const both = failureOf(() => apply(shared, 'third', { metadata: { name: 'p', labels: { app: 'z' } }, spec: { lease: 60 } }));
    expect(both.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "ctl":\n- .metadata.labels.app\n- .spec.lease\nconflicts with "other":\n- .spec.lease',
    );
  });

  it('takes the field by force', () => {
    const forced = apply(created, 'other', { spec: { lease: 60 } }, { force: true });
    expect(forced['spec']).toEqual({ name: 'n', lease: 60 });
    expect(ownersOf(forced)).toEqual([
      ['ctl', 'Apply', 't1', { 'f:metadata': { 'f:labels': { 'f:app': {} } }, 'f:spec': { 'f:name': {} } }],
      ['other', 'Apply', 't2', { 'f:spec': { 'f:lease': {} } }],
    ]);
  });

  it('conflicts with what was updated, in other words', () => {
    const after = applyMergePatch(created, { spec: { lease: 90 } });
    const updated = recordUpdate({ before: created, after, manager: 'human', time: 't2', apiVersion, schema });
    expect(failureOf(() => apply(updated, 'ctl', { spec: { name: 'n', lease: 300 } })).message).toBe(
      'Apply failed with 1 conflict: conflict with "human" using pool.example.com/v1: .spec.lease',
    );
  });

  it('to the status sets nothing else', () => {
    const content = { spec: { paused: true }, status: { allocated: { a: '1' } } };
    const after = apply(created, 'ctl', content, { subresource: 'status' });
    expect(after['spec']).toBe(created['spec']);
    expect(ownersOf(after)[1]).toEqual(['ctl', 'Apply', 't2', 'status', { 'f:status': { 'f:allocated': { 'f:a': {} } } }]);
    expect(
      apply(created, 'ctl', { ...content, spec: created['spec'] ?? null }, { ignoredFields: ['status'] })['status'],
    ).toBeUndefined();
  });

  it('story: two managers and one map', () => {
    const options = { subresource: 'status' };
    let pool = apply(created, 'ctl', { status: { allocated: { a: '1', b: '2' } } }, options);
    pool = apply(pool, 'agent', { status: { allocated: { c: '3' } } }, options);
    expect(pool['status']).toEqual({ allocated: { a: '1', b: '2', c: '3' } });
    pool = apply(pool, 'ctl', { status: { allocated: { a: '1' } } }, options);
    expect(pool['status']).toEqual({ allocated: { a: '1', c: '3' } });
  });

  it('story: conditions by type have an owner each, conditions in an atomic list have one together', () => {
    const options = { subresource: 'status' };
    const [ready, agentReady] = [
      { type: 'Ready', status: 'True' },
      { type: 'AgentReady', status: 'True' },
    ];
    let pool = apply(created, 'ctl', { status: { conditions: [ready], atomic: [ready] } }, options);
    pool = apply(pool, 'agent', { status: { conditions: [agentReady] } }, options);
    expect(pool['status']).toMatchObject({ conditions: [ready, agentReady] });
    expect(apply(pool, 'ctl', { status: {} }, options)['status']).toEqual({ conditions: [agentReady] });
    expect(failureOf(() => apply(pool, 'agent', { status: { atomic: [agentReady] } }, options)).message).toBe(
      'Apply failed with 1 conflict: conflict with "ctl" with subresource "status": .status.atomic',
    );
  });

  it('story: an item goes as a whole with its last owner, even if others own fields of it', () => {
    const live = apply(undefined, 'ctl', { status: { conditions: [{ type: 'Ready' }] } }, { time: 't1' });
    const after = applyMergePatch(live, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const updated = recordUpdate({ before: live, after, manager: 'human', time: 't2', apiVersion, schema });
    const left = apply(updated, 'ctl', { status: { conditions: [] } });
    expect(left['status']).toEqual({ conditions: [] });
    expect(ownersOf(left)).toEqual([['ctl', 'Apply', 't2', { 'f:status': { 'f:conditions': {} } }]]);
  });

  it('owns an object that was never applied before, beside the manager before-first-apply', () => {
    const plain = { apiVersion, kind: 'Pool', metadata: { name: 'p' }, spec: { name: 'n' } };
    expect(ownersOf(apply(plain, 'ctl', { spec: { name: 'n' } })).map((entry) => (entry as unknown[])[0])).toEqual([
      'ctl',
      'before-first-apply',
    ]);
  });

  it('refuses managedFields and fields that are not in the schema', () => {
    expect(failureOf(() => apply(created, 'ctl', { metadata: { name: 'p', managedFields: [{ manager: 'x' }] } }))).toMatchObject({
      code: 400,
      message: 'metadata.managedFields must be nil',
    });
    expect(failureOf(() => apply(created, 'ctl', { spec: { nope: 1 } }))).toEqual({
      code: 500,
      message:
        'failed to create typed patch object (/p; pool.example.com/v1, Kind=Pool): .spec.nope: field not declared in schema',
    });
  });

  it('merges the lists of built-in kinds by their keys', () => {
    const pod = (image: string): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'a', image, ports: [{ containerPort: 67 }] }] },
    });
    const live = applyConfiguration({ live: undefined, applied: pod('img:1'), manager: 'ctl', schema: undefined, time: 't1' });
    expect(ownersOf(live)).toEqual([
      [
        'ctl',
        'Apply',
        't1',
        {
          'f:spec': {
            'f:containers': {
              'k:{"name":"a"}': {
                '.': {},
                'f:image': {},
                'f:name': {},
                'f:ports': { 'k:{"containerPort":67,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
              },
            },
          },
        },
      ],
    ]);
    expect(
      failureOf(() => applyConfiguration({ live, applied: pod('img:2'), manager: 'x', schema: undefined, time: 't2' })).message,
    ).toBe('Apply failed with 1 conflict: conflict with "ctl": .spec.containers[name="a"].image');
  });
});
