import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Descriptor } from '../oci/media-types.js';
import { readTar, type TarEntry } from '../tar/read-tar.js';

/** An image as it is in a layout. */
export interface ReadImage {
  readonly architecture: string;
  readonly manifestDigest: string;
  readonly config: ImageConfig;
  /** The entries of all layers. */
  readonly entries: readonly TarEntry[];
}

export interface ImageConfig {
  readonly created: string;
  readonly config: {
    readonly User: string;
    readonly Entrypoint: readonly string[];
    readonly Env: readonly string[];
    readonly StopSignal: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

interface Index {
  readonly manifests: readonly Descriptor[];
}

/** The images of a layout, one for each architecture. */
export async function readImages(folder: string): Promise<readonly ReadImage[]> {
  const layout = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as Index;
  const [first] = layout.manifests;
  if (first === undefined) throw new Error(`${folder} has no image`);
  const index = await readJson<Index>(folder, first);
  return await Promise.all(index.manifests.map((descriptor) => readImage(folder, descriptor)));
}

async function readImage(folder: string, descriptor: Descriptor): Promise<ReadImage> {
  const manifest = await readJson<{ readonly config: Descriptor; readonly layers: readonly Descriptor[] }>(folder, descriptor);
  const config = await readJson<ImageConfig>(folder, manifest.config);
  const layers = await Promise.all(manifest.layers.map((layer) => readBlob(folder, layer)));
  const archives = await Promise.all(layers.map((layer) => promisify(gunzip)(layer)));
  return {
    architecture: descriptor.platform?.architecture ?? '',
    manifestDigest: descriptor.digest,
    config,
    entries: archives.flatMap(readTar),
  };
}

async function readJson<Value>(folder: string, descriptor: Descriptor): Promise<Value> {
  return JSON.parse((await readBlob(folder, descriptor)).toString('utf8')) as Value;
}

async function readBlob(folder: string, { digest }: Descriptor): Promise<Buffer> {
  return await readFile(join(folder, 'blobs', digest.replace(':', '/')));
}
