import { randomUUID } from 'node:crypto';
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
  /** The digest of the archive before it was compressed. */
  readonly diffId: string;
  /** Octets of the archive before it was compressed. */
  readonly unpackedSize: number;
}

/** Larger archives are compressed once: 45 MB of Node take 8 s. */
const WORTH_KEEPING = 8 * 1024 * 1024;
const LEVEL = 6;
/** SHA-256, in hexadecimal digits. */
const HASH_LENGTH = 64;

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
    const path = join(this.#folder, `${digest}-${process.versions.zlib}-${process.arch}-${LEVEL}.layer`);
    const kept = checked(await readFile(path).catch(() => undefined));
    if (kept !== undefined) return kept;
    const compressed = await compress(archive);
    await mkdir(this.#folder, { recursive: true });
    // Another build may write the same one at the same time.
    const part = `${path}.${randomUUID()}.part`;
    await writeFile(part, [Buffer.from(sha256(compressed)), compressed]);
    await rename(part, path);
    return compressed;
  }
}

/** What was kept, without the hash in front of it; undefined: nothing, or a part of it. */
function checked(kept: Buffer | undefined): Buffer | undefined {
  if (kept === undefined) return undefined;
  const compressed = kept.subarray(HASH_LENGTH);
  return kept.toString('latin1', 0, HASH_LENGTH) === sha256(compressed) ? compressed : undefined;
}

/** Node writes no time and no file name into the header. */
async function compress(archive: Buffer): Promise<Buffer> {
  return await promisify(gzip)(archive, { level: LEVEL });
}
