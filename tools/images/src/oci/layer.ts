import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { sha256 } from '../octets.js';
import { writeTar } from '../tar/write-tar.js';
import type { ImageEntry } from '../tree/image-entry.js';

/** Entries of an image that are transferred and stored together. */
export interface Layer {
  /** What it is, in the history of the image. */
  readonly title: string;
  readonly entries: readonly ImageEntry[];
}

export interface PackedLayer {
  readonly title: string;
  readonly compressed: Buffer;
  /** Of the archive before it was compressed. */
  readonly diffId: string;
  /** Octets of the archive before it was compressed. */
  readonly unpackedSize: number;
}

/** Larger archives are compressed once: 45 MB of Node take 8 s. */
const WORTH_KEEPING = 8 * 1024 * 1024;
const LEVEL = 6;

/** Compresses layers; the same entries give the same octets with the same Node. */
export class LayerPacker {
  readonly #folder: string | undefined;

  /** @param folder - Where large results stay for the next build; undefined: nowhere. */
  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  async pack({ title, entries }: Layer): Promise<PackedLayer> {
    const archive = writeTar(entries);
    const digest = sha256(archive);
    return { title, compressed: await this.#compress(archive, digest), diffId: `sha256:${digest}`, unpackedSize: archive.length };
  }

  async #compress(archive: Buffer, digest: string): Promise<Buffer> {
    if (this.#folder === undefined || archive.length < WORTH_KEEPING) return await compress(archive);
    const path = join(this.#folder, `${digest}-${process.versions.zlib}-${process.arch}-${LEVEL}.gz`);
    const kept = await readFile(path).catch(() => undefined);
    if (kept !== undefined) return kept;
    const compressed = await compress(archive);
    await mkdir(this.#folder, { recursive: true });
    await writeFile(`${path}.part`, compressed);
    await rename(`${path}.part`, path);
    return compressed;
  }
}

/** Node writes no time and no file name into the header. */
async function compress(archive: Buffer): Promise<Buffer> {
  return await promisify(gzip)(archive, { level: LEVEL });
}
