import type { ApiObject } from '../api-object.js';
import type { ApiClient, ResourcePath } from './api-client.js';

/** The objects of one kind, cached for decisions about every request. */
export class LiveList {
  readonly #objects = new Map<string, Map<string, ApiObject>>();
  readonly #unwatch: () => void;
  #sorted: readonly ApiObject[] | undefined;

  constructor(api: Pick<ApiClient, 'watch'>, path: ResourcePath) {
    this.#unwatch = api.watch(path, ({ type, object }) => {
      const { namespace = '', name = '' } = object.metadata;
      const inside = this.#objects.get(namespace) ?? new Map<string, ApiObject>();
      if (type === 'DELETED') inside.delete(name);
      else inside.set(name, object);
      this.#objects.set(namespace, inside);
      this.#sorted = undefined;
    });
  }

  /** All of them, ordered by name. */
  all(): readonly ApiObject[] {
    this.#sorted ??= [...this.#objects.values()]
      .flatMap((inside) => [...inside.values()])
      .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    return this.#sorted;
  }

  inNamespace(namespace: string): Iterable<ApiObject> {
    return this.#objects.get(namespace)?.values() ?? [];
  }

  stop(): void {
    this.#unwatch();
  }
}
