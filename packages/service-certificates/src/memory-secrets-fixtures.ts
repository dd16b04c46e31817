import type { SecretStore, StoredSecret } from './ports.js';

/** Secrets in memory, with versions like in an API server. */
export class MemorySecrets implements SecretStore {
  readonly secrets = new Map<string, StoredSecret>();
  /** How many writes were accepted. */
  writes = 0;
  /** Called before each write, to act as another client. */
  beforeWrite: (() => Promise<void> | void) | undefined;

  async read(name: string): Promise<StoredSecret> {
    return this.secrets.get(name) ?? { resourceVersion: undefined, data: {} };
  }

  async write(name: string, before: StoredSecret, data: Readonly<Record<string, string>>): Promise<'written' | 'conflict'> {
    const { beforeWrite } = this;
    this.beforeWrite = undefined;
    await beforeWrite?.();
    if (this.secrets.get(name)?.resourceVersion !== before.resourceVersion) return 'conflict';
    this.put(name, data);
    return 'written';
  }

  /** Edits it like a person. */
  put(name: string, data: Readonly<Record<string, string>>): void {
    this.writes += 1;
    this.secrets.set(name, { resourceVersion: String(this.writes), data });
  }

  edit(name: string, changes: Readonly<Record<string, string | undefined>>): void {
    const entries = Object.entries({ ...this.data(name), ...changes }).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value] as const],
    );
    this.put(name, Object.fromEntries(entries));
  }

  data(name: string): Readonly<Record<string, string>> {
    return this.secrets.get(name)?.data ?? {};
  }
}
