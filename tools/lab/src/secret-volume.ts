/** A Secret as files in a folder, as a kubelet mounts it: all files change at once, by the link `..data`. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { readTexts } from '@vmdhcp/kube-runtime';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';

export interface SecretVolumeSettings {
  /** Is made. */
  readonly folder: string;
  readonly namespace: string;
  readonly secretName: string;
  /** The mode of the files; `0o644` by default. */
  readonly mode?: number | undefined;
}

const DATA = '..data';
let lastVersion = 0;

export class SecretVolume {
  readonly folder: string;
  /** Resolves when the Secret is there: a pod does not start without it. */
  readonly mounted: Promise<void>;
  readonly #mode: number;
  readonly #unwatch: () => void;

  /** Follows the Secret until `close()`: a kubelet needs up to a minute for a change, this one does it at once. */
  constructor({ client }: KubeSimulator, { folder, namespace, secretName, mode = 0o644 }: SecretVolumeSettings) {
    this.folder = folder;
    this.#mode = mode;
    mkdirSync(folder, { recursive: true });
    const { promise, resolve } = Promise.withResolvers<void>();
    this.mounted = promise;
    this.#unwatch = client.watch(
      { resource: 'secrets', namespace },
      ({ type, object }) => {
        // The files of a Secret that is deleted stay as they are.
        if (type === 'DELETED') return;
        this.#write(readTexts(object, 'data'));
        resolve();
      },
      { fieldSelector: `metadata.name=${secretName}` },
    );
  }

  close(): void {
    this.#unwatch();
  }

  /** @param data - base64. */
  #write(data: Readonly<Record<string, string>>): void {
    const version = `..${new Date().toISOString().replaceAll(/[-:]/g, '_')}.${++lastVersion}`;
    mkdirSync(join(this.folder, version));
    for (const [name, content] of Object.entries(data))
      writeFileSync(join(this.folder, version, name), Buffer.from(content, 'base64'), { mode: this.#mode });
    const before = existsSync(join(this.folder, DATA)) ? readlinkSync(join(this.folder, DATA)) : undefined;
    symlinkSync(version, join(this.folder, `${DATA}_tmp`));
    renameSync(join(this.folder, `${DATA}_tmp`), join(this.folder, DATA));
    this.#link(Object.keys(data));
    if (before !== undefined) rmSync(join(this.folder, before), { recursive: true });
  }

  #link(names: readonly string[]): void {
    const linked = readdirSync(this.folder).filter(
      (name) => lstatSync(join(this.folder, name)).isSymbolicLink() && name !== DATA,
    );
    for (const name of linked.filter((one) => !names.includes(one))) rmSync(join(this.folder, name));
    for (const name of names.filter((one) => !linked.includes(one))) symlinkSync(join(DATA, name), join(this.folder, name));
  }
}
