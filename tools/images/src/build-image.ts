import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Architecture } from './architecture.js';
import { type ImageContent, imageLayers, type PartSources } from './image-layers.js';
import { type BuildIdentity, toAnnotations, toImageConfig } from './oci/image-config.js';
import { ImageLayout } from './oci/image-layout.js';
import type { LayerPacker, PackedLayer } from './oci/layer.js';
import { type Descriptor, MEDIA_TYPE } from './oci/media-types.js';
import type { ProgramImage } from './program-image.js';
import { toBillOfMaterials } from './sbom/bill-of-materials.js';

export interface ImageBuild {
  readonly sources: PartSources;
  readonly packer: LayerPacker;
  readonly identity: BuildIdentity;
  /** The folder of the layout. */
  readonly output: string;
}

/** One image for one architecture. */
export interface BuiltPlatform {
  readonly architecture: Architecture['name'];
  readonly digest: string;
  /** Octets over the network. */
  readonly compressedSize: number;
  /** Octets of each layer on the disk, by its title. */
  readonly unpackedSizes: Readonly<Record<string, number>>;
  /** CycloneDX, as JSON. */
  readonly billOfMaterials: string;
}

export interface BuiltImage {
  readonly program: ProgramImage['name'];
  /** The digest of the index of all architectures, which a Deployment names. */
  readonly digest: string;
  readonly platforms: readonly BuiltPlatform[];
}

/** Builds the image of a program for all of `architectures`, as a layout in a folder. */
export async function buildImage(
  program: ProgramImage,
  architectures: readonly Architecture[],
  build: ImageBuild,
): Promise<BuiltImage> {
  const layout = await ImageLayout.create(build.output);
  const description = await readDescription(program, build.sources.root);
  const annotations = toAnnotations({ title: program.title, description }, build.identity);
  const parts = await Promise.all(
    architectures.map((architecture) => buildPlatform({ program, architecture, annotations }, layout, build)),
  );
  const index = await layout.addJson(MEDIA_TYPE.index, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.index,
    manifests: parts.map(({ manifest }) => manifest),
    annotations,
  });
  const { version, repositories } = build.identity;
  const fullName = `${repositories[program.name]}:${version}`;
  await layout.finish(index, { name: version, fullName, referrers: parts.map(({ referrer }) => referrer) });
  return { program: program.name, digest: index.digest, platforms: parts.map(({ built }) => built) };
}

interface PlatformImage {
  readonly program: ProgramImage;
  readonly architecture: Architecture;
  readonly annotations: Readonly<Record<string, string>>;
}

async function buildPlatform(
  image: PlatformImage,
  layout: ImageLayout,
  { sources, packer, identity }: ImageBuild,
): Promise<{ readonly manifest: Descriptor; readonly referrer: Descriptor; readonly built: BuiltPlatform }> {
  const { program, architecture, annotations } = image;
  const content = await imageLayers(program, architecture, sources);
  const layers = await Promise.all(content.layers.map((layer) => packer.pack(layer)));
  const platform = { architecture: architecture.name, os: 'linux' };
  const config = toImageConfig(
    { program, architecture: architecture.name, labels: annotations, created: identity.created },
    layers,
  );
  const blobs = await Promise.all(layers.map(({ compressed }) => layout.addBlob(MEDIA_TYPE.layer, compressed)));
  const manifest = await layout.addJson(MEDIA_TYPE.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.manifest,
    config: await layout.addJson(MEDIA_TYPE.config, config),
    layers: blobs,
    annotations,
  });
  const billOfMaterials = describeContent(image, content, identity);
  return {
    manifest: { ...manifest, platform },
    referrer: await addReferrer(layout, manifest, { billOfMaterials, created: identity.created }),
    built: toBuiltPlatform(architecture, { manifest, blobs, layers, billOfMaterials }),
  };
}

function describeContent({ program, architecture }: PlatformImage, content: ImageContent, identity: BuildIdentity): string {
  return `${JSON.stringify(toBillOfMaterials({ program, architecture, identity, ...content }), undefined, 2)}\n`;
}

/** The list of contents as an artifact that refers to the image. Source: OCI distribution specification, "Referrers". */
async function addReferrer(
  layout: ImageLayout,
  subject: Descriptor,
  { billOfMaterials, created }: { readonly billOfMaterials: string; readonly created: string },
): Promise<Descriptor> {
  const manifest = await layout.addJson(MEDIA_TYPE.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPE.manifest,
    artifactType: MEDIA_TYPE.sbom,
    config: await layout.addBlob(MEDIA_TYPE.empty, Buffer.from('{}')),
    layers: [await layout.addBlob(MEDIA_TYPE.sbom, Buffer.from(billOfMaterials))],
    subject,
    annotations: { 'org.opencontainers.image.created': created },
  });
  return { ...manifest, artifactType: MEDIA_TYPE.sbom };
}

function toBuiltPlatform(
  { name }: Architecture,
  {
    manifest,
    blobs,
    layers,
    billOfMaterials,
  }: {
    readonly manifest: Descriptor;
    readonly blobs: readonly Descriptor[];
    readonly layers: readonly PackedLayer[];
    readonly billOfMaterials: string;
  },
): BuiltPlatform {
  return {
    architecture: name,
    digest: manifest.digest,
    compressedSize: blobs.reduce((total, { size }) => total + size, 0),
    unpackedSizes: Object.fromEntries(layers.map(({ title, unpackedSize }) => [title, unpackedSize])),
    billOfMaterials,
  };
}

async function readDescription({ folder }: ProgramImage, root: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as { readonly description: string }).description;
}
