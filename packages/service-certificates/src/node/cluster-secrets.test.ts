import type { KubernetesObject, WriteResult } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { clusterSecrets, SecretRefusedError } from './cluster-secrets.js';

interface Patched {
  readonly target: { readonly key: string; readonly resourceVersion?: string | undefined };
  readonly patch: unknown;
}

function setUp(there: KubernetesObject | undefined, answer: WriteResult<KubernetesObject>) {
  const created: KubernetesObject[] = [];
  const patched: Patched[] = [];
  const client = {
    get: async () => there,
    create: async (object: KubernetesObject) => {
      created.push(object);
      return answer;
    },
    patch: async (target: Patched['target'], patch: unknown) => {
      patched.push({ target, patch });
      return answer;
    },
  };
  return { store: clusterSecrets(client, { namespace: 'system', labels: { app: 'x' } }), created, patched };
}

const SECRET = {
  metadata: { namespace: 'system', name: 'tls', resourceVersion: '7' },
  data: { old: 'eA==' },
} as unknown as KubernetesObject;
const OK: WriteResult<KubernetesObject> = { ok: true, object: SECRET };

describe('clusterSecrets', () => {
  it('creates a missing Secret, with the type for its content', async () => {
    const { store, created } = setUp(undefined, OK);
    const before = await store.read('tls');
    expect(before).toEqual({ resourceVersion: undefined, data: {} });
    expect(await store.write('tls', before, { 'tls.crt': 'x' })).toBe('written');
    expect(created).toMatchObject([
      {
        kind: 'Secret',
        metadata: { namespace: 'system', name: 'tls', labels: { app: 'x' } },
        type: 'kubernetes.io/tls',
        data: { 'tls.crt': 'eA==' },
      },
    ]);
  });

  it('replaces the data of one that exists, at the version that was read', async () => {
    const { store, patched } = setUp(SECRET, OK);
    const before = await store.read('tls');
    expect(before).toEqual({ resourceVersion: '7', data: { old: 'x' } });
    await store.write('tls', before, { new: 'x' });
    expect(patched).toEqual([
      { target: { key: 'system/tls', resourceVersion: '7' }, patch: { data: { old: null, new: 'eA==' } } },
    ]);
  });

  it.each(['conflict', 'already-exists', 'not-found'] as const)('%s: another replica was first', async (reason) => {
    const { store } = setUp(SECRET, { ok: false, reason, message: 'no' });
    expect(await store.write('tls', await store.read('tls'), {})).toBe('conflict');
  });

  it('a missing right is an error that names the Secret', async () => {
    const { store } = setUp(SECRET, { ok: false, reason: 'forbidden', message: 'secrets "tls" is forbidden' });
    const written = store.write('tls', await store.read('tls'), {});
    await expect(written).rejects.toThrow(SecretRefusedError);
    await expect(written).rejects.toThrow('Secret system/tls cannot be written: secrets "tls" is forbidden');
  });
});
