import { describe, expect, it } from 'vitest';
import type { ObjectClient } from '../api/object-client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { fencedClient, NotLeadingError } from './fenced-client.js';

const OBJECT: KubernetesObject = { metadata: { name: 'a' } };
type Client = ObjectClient<KubernetesObject>;

/** A fenced client, and the calls that it lets through. */
function setUp() {
  const calls: unknown[] = [];
  const call =
    (name: string) =>
    async (...parameters: readonly unknown[]) => {
      calls.push([name, ...parameters]);
      return { ok: true, object: OBJECT };
    };
  const names = ['list', 'get', 'create', 'patch', 'patchStatus', 'delete', 'subresource', 'watch'];
  const client = Object.fromEntries(names.map((name) => [name, call(name)])) as unknown as Client;
  const state = { isLeading: true };
  return { state, calls, client: fencedClient(client, () => state.isLeading) };
}

const WRITES: readonly [string, (client: Client) => Promise<unknown>, unknown][] = [
  ['create', (client) => client.create(OBJECT), ['create', OBJECT]],
  ['patch', (client) => client.patch({ key: 'a' }, { spec: 1 }), ['patch', { key: 'a' }, { spec: 1 }]],
  ['patchStatus', (client) => client.patchStatus({ key: 'a' }, { status: 1 }), ['patchStatus', { key: 'a' }, { status: 1 }]],
  ['delete', (client) => client.delete('a', 'u', '7'), ['delete', 'a', 'u', '7']],
  [
    'the update of a subresource',
    (client) => client.subresource({ key: 'a', name: 'scale', verb: 'update', body: {} }),
    ['subresource', { key: 'a', name: 'scale', verb: 'update', body: {} }],
  ],
];

describe('a client that only the leader may write with', () => {
  it.each(WRITES)('%s is passed on while it leads, and refused after that', async (_, write, call) => {
    const { state, calls, client } = setUp();
    expect(await write(client)).toEqual({ ok: true, object: OBJECT });
    expect(calls).toEqual([call]);
    state.isLeading = false;
    await expect(write(client)).rejects.toThrow(NotLeadingError);
    expect(calls).toHaveLength(1);
  });

  it('reads go through always', async () => {
    const { state, calls, client } = setUp();
    state.isLeading = false;
    const handlers = { onEvent: () => undefined, onEnd: () => undefined };
    await client.list({ limit: 1 });
    await client.get('a');
    client.watch('7', handlers);
    await client.subresource({ key: 'a', name: 'scale', verb: 'get' });
    expect(calls).toEqual([
      ['list', { limit: 1 }],
      ['get', 'a'],
      ['watch', '7', handlers],
      ['subresource', { key: 'a', name: 'scale', verb: 'get' }],
    ]);
  });
});
