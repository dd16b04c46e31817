import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { applyStrategicMergePatch } from './strategic-merge-patch.js';

const deployment = {
  metadata: { finalizers: ['a', 'b'], labels: { finalizers: 'a label', x: '1' } },
  spec: {
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } },
    template: {
      spec: {
        containers: [
          {
            name: 'a',
            image: 'img:1',
            env: [{ name: 'X', value: '1' }],
            ports: [{ containerPort: 67, protocol: 'UDP' }],
          },
          { name: 'b', image: 'img:1' },
        ],
        tolerations: [{ key: 'k1' }],
      },
    },
  },
};

function patchedPod(pod: JsonObject): JsonObject {
  const patched = applyStrategicMergePatch(deployment, { spec: { template: { spec: pod } } });
  return ((patched['spec'] as JsonObject)['template'] as JsonObject)['spec'] as JsonObject;
}

describe('a strategic merge patch', () => {
  it('merges containers and env by name, in the order of the patch; tolerations are replaced', () => {
    const pod = patchedPod({
      containers: [
        { name: 'b', image: 'img:2' },
        { name: 'a', env: [{ name: 'Y', value: '2' }] },
      ],
      tolerations: [{ key: 'k2' }],
    });
    expect(pod).toEqual({
      containers: [
        { name: 'b', image: 'img:2' },
        {
          name: 'a',
          image: 'img:1',
          env: [
            { name: 'Y', value: '2' },
            { name: 'X', value: '1' },
          ],
          ports: [{ containerPort: 67, protocol: 'UDP' }],
        },
      ],
      tolerations: [{ key: 'k2' }],
    });
  });

  it('keeps the order of the list where the patch does not specify it', () => {
    const names = (list: unknown): unknown[] => (list as { name: string }[]).map(({ name }) => name);
    expect(names(patchedPod({ containers: [{ name: 'b', image: 'img:2' }] })['containers'])).toEqual(['a', 'b']);
    const ordered = { containers: [{ name: 'c' }], '$setElementOrder/containers': [{ name: 'c' }, { name: 'b' }, { name: 'a' }] };
    expect(names(patchedPod(ordered)['containers'])).toEqual(['c', 'b', 'a']);
  });

  it('deletes an item, or replaces the whole list, by $patch', () => {
    expect(patchedPod({ containers: [{ name: 'a', $patch: 'delete' }] })['containers']).toEqual([{ name: 'b', image: 'img:1' }]);
    expect(patchedPod({ containers: [{ $patch: 'replace' }, { name: 'z' }] })['containers']).toEqual([{ name: 'z' }]);
  });

  it('merges ports of a container by containerPort and of a Service by port', () => {
    const [container] = patchedPod({ containers: [{ name: 'a', ports: [{ containerPort: 68 }] }] })['containers'] as JsonObject[];
    expect(container?.['ports']).toEqual([{ containerPort: 68 }, { containerPort: 67, protocol: 'UDP' }]);
    const service = { spec: { ports: [{ port: 443, targetPort: 1 }] } };
    expect(applyStrategicMergePatch(service, { spec: { ports: [{ port: 443, targetPort: 2 }] } })).toEqual({
      spec: { ports: [{ port: 443, targetPort: 2 }] },
    });
  });

  it('keeps only the retained keys of an object', () => {
    const patch = { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } } };
    expect((applyStrategicMergePatch(deployment, patch)['spec'] as JsonObject)['strategy']).toEqual({ type: 'Recreate' });
  });

  it('merges finalizers and deletes single ones, whatever a label is called', () => {
    const patch = {
      metadata: { finalizers: ['c'], '$deleteFromPrimitiveList/finalizers': ['a'], labels: { finalizers: 'another' } },
    };
    const { finalizers, labels } = applyStrategicMergePatch(deployment, patch)['metadata'] as JsonObject;
    expect(new Set(finalizers as string[])).toEqual(new Set(['b', 'c']));
    expect(labels).toEqual({ finalizers: 'another', x: '1' });
  });

  it('deletes keys by null and shares what it does not touch', () => {
    expect(applyStrategicMergePatch({ data: { a: '1', b: '2' } }, { data: { a: null, c: '3' } })).toEqual({
      data: { b: '2', c: '3' },
    });
    expect(applyStrategicMergePatch(deployment, { metadata: { labels: { x: '2' } } })['spec']).toBe(deployment.spec);
  });

  it('refuses an item without its key', () => {
    expect(() => patchedPod({ containers: [{ image: 'x' }] })).toThrow('does not contain declared merge key: name');
  });
});
