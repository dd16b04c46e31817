import { describe, expect, it } from 'vitest';
import { lease } from './core/lease.js';
import { deployment } from './core/workloads.js';
import { always, decodeGo, flag, int32, intOrString, list, map, pointer, struct, text } from './go-type.js';

const shape = struct('Thing', {
  name: always(text),
  note: text,
  count: int32,
  maybe: pointer(int32),
  on: flag,
  labels: map(text),
  parts: list(struct('Part', { id: text, port: intOrString })),
  inner: always(struct('Inner', { deep: text })),
});

describe('decoding', () => {
  it('puts fields in order, drops what Go leaves out, writes what Go always writes', () => {
    const { value } = decodeGo(shape, { maybe: 0, count: 0, note: '', on: false, labels: { b: '1', a: '2' }, parts: [] });
    expect(JSON.stringify(value)).toBe('{"name":"","maybe":0,"labels":{"a":"2","b":"1"},"inner":{}}');
  });

  it('names unknown fields by their paths', () => {
    const { unknownFields } = decodeGo(shape, { x: 1, parts: [{ id: 'a' }, { y: 1 }], inner: { z: 1 } });
    expect(unknownFields).toEqual(['parts[1].y', 'inner.z', 'x']);
  });

  it.each([
    [{ count: '1' }, 'json: cannot unmarshal string into Go struct field Thing.count of type int32'],
    [{ labels: { a: 1 } }, 'json: cannot unmarshal number into Go struct field Thing.labels of type string'],
    [{ inner: { deep: {} } }, 'json: cannot unmarshal object into Go struct field Inner.inner.deep of type string'],
    [{ parts: {} }, 'json: cannot unmarshal object into Go struct field Thing.parts of type []v1.Part'],
  ])('refuses %j as Go does', (value, message) => {
    expect(() => decodeGo(shape, value)).toThrow(message);
  });
});

it.each([
  ['2026-01-01T00:00:10.5Z', 'cannot parse ".5Z" as ".000000"'],
  ['2026-01-01T00:00:21Z', 'cannot parse "Z" as ".000000"'],
  ['2026-01-01T00:00:20.1234567Z', 'cannot parse "7Z" as "Z07:00"'],
  ['yesterday', 'cannot parse "yesterday" as "2006"'],
])('a Lease cannot be renewed at %s', (renewTime, message) => {
  const object = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { renewTime } };
  expect(() => lease.strategy.decode(object)).toThrow(message);
});

it('a Deployment is filled in as the real server does', () => {
  const { strategy } = deployment;
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'img' }] } };
  const sent = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: { selector: { matchLabels: { app: 'a' } }, template },
  };
  const filled = strategy.canonical(strategy.applyDefaults(strategy.decode(sent).object), undefined);
  expect(filled).toMatchObject({
    spec: {
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
      template: {
        spec: { restartPolicy: 'Always', containers: [{ imagePullPolicy: 'Always', terminationMessagePolicy: 'File' }] },
      },
    },
    status: {},
  });
  expect(strategy.validate(filled, undefined, '')).toEqual([]);
});
