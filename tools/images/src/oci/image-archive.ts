import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeTar } from '../tar/write-tar.js';
import { type FileEntry, textFile } from '../tree/image-entry.js';
import { type Descriptor, MEDIA_TYPE } from './media-types.js';

interface Manifest {
  readonly manifests?: readonly Descriptor[];
  readonly config?: Descriptor;
  readonly layers?: readonly Descriptor[];
}

/**
 * The images of several layouts as one tar file, which containerd imports under the names that chart and manifests have. Without the lists of contents:
 * `kind load image-archive` unpacks everything that the index names, and fails for what has no file system.
 */
export async function imageArchive(layouts: readonly string[]): Promise<Buffer> {
  const read = await Promise.all(layouts.map(readLayout));
  // Images share layers, and each blob is in the archive once.
  const blobs = new Map(read.flatMap(({ files }) => files.map((file) => [file.path, file])));
  const manifests = read.flatMap(({ images }) => images);
  const index = { schemaVersion: 2, mediaType: MEDIA_TYPE.index, manifests };
  return writeTar([
    textFile('oci-layout', '{"imageLayoutVersion":"1.0.0"}'),
    textFile('index.json', JSON.stringify(index)),
    ...blobs.values(),
  ]);
}

async function readLayout(
  folder: string,
): Promise<{ readonly images: readonly Descriptor[]; readonly files: readonly FileEntry[] }> {
  const { manifests = [] } = JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as Manifest;
  const images = manifests.filter(({ annotations }) => annotations?.['io.containerd.image.name'] !== undefined);
  const files = await Promise.all(images.map((image) => readBlobs(folder, image)));
  return { images, files: files.flat() };
}

/** The blob, and everything that it needs. */
async function readBlobs(folder: string, { digest, mediaType }: Descriptor): Promise<readonly FileEntry[]> {
  const path = `blobs/${digest.replace(':', '/')}`;
  const content = await readFile(join(folder, path));
  const file: FileEntry = { kind: 'file', path, mode: 0o644, content };
  if (mediaType !== MEDIA_TYPE.index && mediaType !== MEDIA_TYPE.manifest) return [file];
  const { manifests = [], config, layers = [] } = JSON.parse(content.toString('utf8')) as Manifest;
  const needed = [...manifests, ...(config === undefined ? [] : [config]), ...layers];
  return [file, ...(await Promise.all(needed.map((one) => readBlobs(folder, one)))).flat()];
}
