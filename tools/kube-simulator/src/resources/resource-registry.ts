import type { ResourceType } from './resource-type.js';

/** The kinds that are served now. Custom resources come and go; a kind is found by group, version and plural. */
export class ResourceRegistry {
  readonly #fixed: readonly ResourceType[];
  #custom: readonly ResourceType[] = [];
  readonly #byPath = new Map<string, ResourceType>();
  readonly #byResource = new Map<string, ResourceType>();
  readonly #byKind = new Map<string, ResourceType>();
  readonly #listeners = new Set<() => void>();

  constructor(fixed: readonly ResourceType[]) {
    this.#fixed = fixed;
    this.#index();
  }

  /** All kinds in the order of discovery. */
  get all(): readonly ResourceType[] {
    return [...this.#fixed, ...this.#custom];
  }

  find(group: string, version: string, plural: string): ResourceType | undefined {
    return this.#byPath.get(`${group}/${version}/${plural}`);
  }

  /** The preferred version of a resource. */
  preferred(group: string, plural: string): ResourceType | undefined {
    return this.#byResource.get(`${group}/${plural}`);
  }

  /** The type of `apps/v1` `Deployment`. */
  ofKind(apiVersion: string, kind: string): ResourceType | undefined {
    return this.#byKind.get(`${apiVersion}/${kind}`);
  }

  replaceCustom(types: readonly ResourceType[]): void {
    this.#custom = types;
    this.#index();
    for (const listener of this.#listeners) listener();
  }

  /** True while objects are served by exactly this definition of their kind. */
  serves(type: ResourceType): boolean {
    return this.find(type.group, type.version, type.plural) === type;
  }

  /** Calls `listener` after each change of the custom resources. Returns a function that stops this. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #index(): void {
    this.#byPath.clear();
    this.#byResource.clear();
    this.#byKind.clear();
    for (const type of this.all) {
      this.#byPath.set(`${type.group}/${type.version}/${type.plural}`, type);
      const resource = `${type.group}/${type.plural}`;
      if (!this.#byResource.has(resource)) this.#byResource.set(resource, type);
      const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
      this.#byKind.set(`${apiVersion}/${type.kind}`, type);
    }
  }
}
