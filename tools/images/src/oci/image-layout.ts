import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256 } from '../octets.js';
import { type Descriptor, MEDIA_TYPE } from './media-types.js';

/** A folder with images, as every tool for images reads it. Source: OCI image layout specification. */
export class ImageLayout {
  readonly #folder: string;
  readonly #written = new Set<string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** @param folder - Made if it does not exist. */
  static async create(folder: string): Promise<ImageLayout> {
    await mkdir(join(folder, 'blobs/sha256'), { recursive: true });
    await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
    return new ImageLayout(folder);
  }

  async addBlob(mediaType: string, content: Buffer): Promise<Descriptor> {
    const digest = sha256(content);
    if (!this.#written.has(digest)) await writeFile(join(this.#folder, 'blobs/sha256', digest), content);
    this.#written.add(digest);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  }

  addJson(mediaType: string, value: object): Promise<Descriptor> {
    return this.addBlob(mediaType, Buffer.from(JSON.stringify(value)));
  }

  /**
   * Writes which images the folder has: the first of them by a name (tag), the others belong to it.
   *
   * @param fullName - how containerd calls the image once it is imported, with registry and tag.
   */
  async finish(
    image: Descriptor,
    {
      name,
      fullName,
      referrers,
    }: { readonly name: string; readonly fullName: string; readonly referrers: readonly Descriptor[] },
  ): Promise<void> {
    const named = { ...image, annotations: { 'org.opencontainers.image.ref.name': name, 'io.containerd.image.name': fullName } };
    const index = { schemaVersion: 2, mediaType: MEDIA_TYPE.index, manifests: [named, ...referrers] };
    await writeFile(join(this.#folder, 'index.json'), JSON.stringify(index));
  }
}
