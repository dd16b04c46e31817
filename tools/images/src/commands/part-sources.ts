import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Option } from 'commander';
import { ARCHITECTURES } from '../architecture.js';
import { DEBIAN_MIRROR, DebianArchive } from '../debian/debian-archive.js';
import type { PartSources } from '../image-layers.js';
import { NpmPackages } from '../npm/npm-packages.js';
import { PROGRAM_IMAGES } from '../program-image.js';

export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/** What was fetched and compressed before; safe to delete. */
export const CACHE = join(ROOT, '.vmdhcp/images-cache');

/** @param mirror - The host of Debian's archive. */
export function partSources(mirror?: string): PartSources {
  return {
    root: ROOT,
    packages: new NpmPackages(ROOT, join(CACHE, 'npm')),
    archive: new DebianArchive(join(CACHE, 'debian'), mirror),
  };
}

export function mirrorOption(): Option {
  return new Option('--debian-mirror <url>', 'where Debian’s archive is, without /debian at the end').default(
    DEBIAN_MIRROR,
    'Debian’s own',
  );
}

export function architectureOption(): Option {
  return new Option('--arch <architecture>', 'for this processor').choices(ARCHITECTURES.map(({ name }) => name));
}

export const PROGRAM_NAMES: readonly string[] = PROGRAM_IMAGES.map(({ name }) => name);
