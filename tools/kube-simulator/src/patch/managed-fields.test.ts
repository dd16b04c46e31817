import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { recordUpdate, type Update } from './managed-fields.js';
import { applyMergePatch } from './merge-patch.js';

const apiVersion = 'pool.example.com/v1';
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        dns: { type: 'array', items: { type: 'string' } },
        routes: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['to'],
          items: { type: 'object', properties: { to: { type: 'string' }, via: { type: 'string' } } },
        },
        map: { type: 'object', additionalProperties: { type: 'string' } },
        atom: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: { type: 'string' } },
      },
    },
  },
};
const created: JsonObject = { apiVersion, kind: 'Pool', metadata: { name: 'p', labels: { a: '1' } }, spec: { name: 'n' } };

function write(update: Partial<Update> & Pick<Update, 'after'>): JsonObject {
  return recordUpdate({ before: undefined, manager: 'maker', time: 't1', apiVersion, schema, ...update });
}

function patch(before: JsonObject, change: JsonObject, manager = 'editor', time = 't2'): JsonObject {
  return write({ before, after: applyMergePatch(before, change), manager, time });
}

function ownersOf(object: JsonObject): unknown {
  const entries = (object['metadata'] as JsonObject)['managedFields'] as JsonObject[] | undefined;
  return entries?.map(({ manager, time, fieldsV1 }) => [manager, time, fieldsV1]);
}

describe('managed fields of updates', () => {
  const fresh = write({ after: created });

  it('give all fields of a new object to who created it, but for what the server writes', () => {
    expect((fresh['metadata'] as JsonObject)['managedFields']).toEqual([
      {
        manager: 'maker',
        operation: 'Update',
        apiVersion,
        time: 't1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': { '.': {}, 'f:name': {} } },
      },
    ]);
  });

  it('move a changed field to who changed it', () => {
    expect(ownersOf(patch(fresh, { spec: { name: 'm', dns: ['1.1.1.1'] } }))).toEqual([
      ['maker', 't1', { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } }, 'f:spec': {} }],
      ['editor', 't2', { 'f:spec': { 'f:dns': {}, 'f:name': {} } }],
    ]);
  });

  it('forget a removed field, and a manager that has none left', () => {
    const touched = patch(fresh, { spec: { dns: ['1.1.1.1'] } });
    expect(ownersOf(patch(touched, { spec: { dns: null } }, 'third', 't3'))).toEqual(ownersOf(fresh));
  });

  it('follow single items of list maps and of maps, but not what is atomic', () => {
    const routes = [
      { to: 'a', via: '1' },
      { to: 'b', via: '1' },
    ];
    const full = patch(created, { spec: { routes, map: { k: 'v' }, atom: { k: 'v' } } });
    expect(ownersOf(full)).toBeUndefined();
    const tracked = patch(fresh, { spec: { routes, map: { k: 'v' }, atom: { k: 'v' } } });
    const changed = patch(
      tracked,
      { spec: { routes: [{ to: 'a', via: '2' }, routes[1] ?? null], map: { l: 'w' }, atom: { l: 'w' } } },
      'x',
    );
    expect((ownersOf(changed) as unknown[][]).find(([manager]) => manager === 'x')?.[2]).toEqual({
      'f:spec': { 'f:atom': {}, 'f:map': { 'f:l': {} }, 'f:routes': { 'k:{"to":"a"}': { 'f:via': {} } } },
    });
  });

  it('stay as they are when nothing changed', () => {
    expect(patch(fresh, {})).toBe(fresh);
    expect(patch(fresh, { spec: { name: 'n' } })).toBe(fresh);
  });

  it('are kept when the write leaves them out, taken away by one empty entry, and not begun again', () => {
    const { managedFields: _, ...metadata } = fresh['metadata'] as JsonObject;
    expect(write({ before: fresh, after: { ...fresh, metadata } })).toEqual(fresh);
    const cleared = write({ before: fresh, after: { ...fresh, metadata: { ...metadata, managedFields: [{}] } } });
    expect(ownersOf(cleared)).toBeUndefined();
    expect(ownersOf(patch(cleared, { spec: { name: 'm' } }))).toBeUndefined();
  });

  it('keep ten managers; the oldest become one', () => {
    let object = fresh;
    for (let index = 0; index < 15; index++)
      object = patch(object, { spec: { map: { [`k${index}`]: 'v' } } }, `m${index}`, `t${index + 10}`);
    const managers = (ownersOf(object) as unknown[][]).map(([manager]) => manager);
    expect(managers).toHaveLength(10);
    expect(managers).toContain('ancient-changes');
    expect(managers).toContain('m14');
  });
});
