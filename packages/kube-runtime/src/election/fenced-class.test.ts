import { expect, it } from 'vitest';
import type { ObjectClient } from '../api/object-client.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { fencedClient } from './fenced-client.js';

it('a client may be an object of a class', async () => {
  class Client implements Pick<ObjectClient<KubernetesObject>, 'get' | 'create'> {
    readonly #object = { metadata: { name: 'a' } };
    async get() {
      return this.#object;
    }
    async create() {
      return { ok: true, object: this.#object } as const;
    }
  }
  const client = fencedClient(new Client() as unknown as ObjectClient<KubernetesObject>, () => true);
  await expect(client.get('a')).resolves.toMatchObject({ metadata: { name: 'a' } });
  await expect(client.create({ metadata: { name: 'a' } })).resolves.toMatchObject({ ok: true });
});
