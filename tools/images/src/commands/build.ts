import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { ARCHITECTURES } from '../architecture.js';
import { buildIdentity } from '../build-identity.js';
import { type BuiltImage, buildImage } from '../build-image.js';
import { imageArchive } from '../oci/image-archive.js';
import { LayerPacker } from '../oci/layer.js';
import { PROGRAM_IMAGES } from '../program-image.js';
import { architectureOption, CACHE, mirrorOption, PROGRAM_NAMES, partSources, ROOT } from './part-sources.js';

interface BuildOptions {
  readonly output: string;
  readonly program?: string;
  readonly arch?: string;
  readonly version?: string;
  readonly revision?: string;
  readonly debianMirror: string;
  readonly cache: boolean;
  readonly archive?: boolean;
  readonly json?: boolean;
}

const MEGABYTE = 1_000_000;

/** `npm run images -- build` */
export function buildCommand(): Command {
  return new Command('build')
    .description(
      'Build images: for each program an OCI layout with an index of its architectures, and a list of contents (CycloneDX).',
    )
    .addOption(
      new Option('--output <dir>', 'where the layouts go; what is there of an earlier build is replaced').default(
        join(ROOT, '.vmdhcp/images'),
        '.vmdhcp/images of this repository',
      ),
    )
    .addOption(new Option('--program <name>', 'this program only').choices([...PROGRAM_NAMES]))
    .addOption(architectureOption())
    .option('--version <version>', 'the tag and the label (default: that of the packages)')
    .option('--revision <commit>', 'the label (default: the commit of this repository)')
    .addOption(mirrorOption())
    .option('--archive', 'also images.tar: all of them in one file, for ctr, kind and k3s')
    .option('--no-cache', 'compress everything again')
    .option('--json', 'print digests and sizes as JSON')
    .action(build);
}

async function build(options: BuildOptions): Promise<void> {
  const identity = await buildIdentity(ROOT, { ...options, sourceDateEpoch: process.env['SOURCE_DATE_EPOCH'] });
  const sources = partSources(options.debianMirror);
  const packer = new LayerPacker(options.cache ? join(CACHE, 'layers') : undefined);
  const architectures = ARCHITECTURES.filter(({ name }) => options.arch === undefined || options.arch === name);
  const built: BuiltImage[] = [];
  await mkdir(options.output, { recursive: true });
  for (const program of PROGRAM_IMAGES.filter(({ name }) => options.program === undefined || options.program === name)) {
    const output = join(options.output, program.name);
    await rm(output, { recursive: true, force: true });
    built.push(await buildImage(program, architectures, { sources, packer, identity, output }));
  }
  for (const image of built) await writeBillsOfMaterials(options.output, image);
  if (options.archive === true) await writeArchive(options.output, built);
  process.stdout.write(
    options.json === true ? `${JSON.stringify(built.map(toSummary), undefined, 2)}\n` : built.map(describe).join('\n'),
  );
}

async function writeArchive(output: string, built: readonly BuiltImage[]): Promise<void> {
  const layouts = built.map(({ program }) => join(output, program));
  await writeFile(join(output, 'images.tar'), await imageArchive(layouts));
}

async function writeBillsOfMaterials(output: string, { program, platforms }: BuiltImage): Promise<void> {
  for (const { architecture, billOfMaterials } of platforms)
    await writeFile(join(output, `${program}-linux-${architecture}.cdx.json`), billOfMaterials);
}

function toSummary({ program, digest, platforms }: BuiltImage): object {
  const summaries = platforms.map(({ architecture, digest: of, compressedSize, unpackedSizes }) => ({
    architecture,
    digest: of,
    compressedSize,
    unpackedSizes,
  }));
  return { program, digest, platforms: summaries };
}

function describe({ program, digest, platforms }: BuiltImage): string {
  const lines = platforms.map(({ architecture, digest: of, compressedSize, unpackedSizes }) => {
    const sizes = Object.entries(unpackedSizes).map(([title, size]) => `${title} ${megabytes(size)}`);
    return `  linux/${architecture} ${of}\n    ${megabytes(compressedSize)} to transfer; unpacked ${sizes.join(', ')}\n`;
  });
  return `${program} ${digest}\n${lines.join('')}`;
}

function megabytes(octets: number): string {
  return `${(octets / MEGABYTE).toFixed(1)} MB`;
}
