import { MODULES } from '../program-image.js';
import type { FileEntry } from '../tree/image-entry.js';
import type { NpmPackages, PackageFile } from './npm-packages.js';
import type { PlacedPackage } from './place-packages.js';
import { isRuntimeFile } from './runtime-files.js';

/** A package as it is in an image. */
export interface InstalledPackage extends PlacedPackage {
  readonly files: readonly PackageFile[];
  readonly manifest: PackageManifest;
}

export interface PackageManifest {
  readonly version: string;
  readonly license?: unknown;
}

const MODE = 0o644;

/** Each package with its files; packages of types alone have none, and are left out. */
export async function readPackages(
  placed: readonly PlacedPackage[],
  packages: NpmPackages,
): Promise<readonly InstalledPackage[]> {
  const read = await Promise.all(
    placed.map(async (one) => {
      const files = await packages.filesOf(one.package, isRuntimeFile);
      const manifest = files.find(({ path }) => path === 'package.json')?.content.toString('utf8') ?? '{}';
      return { ...one, files, manifest: JSON.parse(manifest) as PackageManifest };
    }),
  );
  return read.filter(({ files }) => files.some(({ path }) => /\.([cm]?js|node)$/.test(path)));
}

export function toEntries(packages: readonly InstalledPackage[]): readonly FileEntry[] {
  return packages.flatMap(({ path, files }) =>
    files.map((file) => ({ kind: 'file' as const, path: `${MODULES}/${path}/${file.path}`, mode: MODE, content: file.content })),
  );
}
