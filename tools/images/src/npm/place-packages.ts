import type { NeededPackage } from './lockfile.js';

/** Where a package is, below the first folder of packages: `a`, or `a/node_modules/b` where another version of `b` is at the top. */
export interface PlacedPackage {
  readonly path: string;
  readonly package: NeededPackage;
}

/**
 * A place for each package, so that each of them finds its dependencies as Node looks for them: in the folder `node_modules` of its own, then in those
 * of the folders above. The first version of a package by that name goes to the top; others go below the package that needs them.
 */
export function placePackages(needed: ReadonlyMap<string, NeededPackage>, start: string): readonly PlacedPackage[] {
  const places = new Map<string, string>();
  const placed: PlacedPackage[] = [];
  const waiting: { readonly key: string; readonly above: readonly string[] }[] = [{ key: start, above: [] }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const one = needed.get(next.key);
    if (one === undefined) throw new Error(`there is no package ${next.key} to place`);
    const found = [...next.above, ''].map((folder) => places.get(toPath(folder, one.name))).find((key) => key !== undefined);
    if (found === next.key) continue;
    if (next.above.some((folder) => places.get(folder) === next.key))
      throw new Error(`${next.key} needs itself through another version of a package above it: it has no place without links`);
    const path = toPath(found === undefined ? '' : (next.above[0] ?? ''), one.name);
    places.set(path, next.key);
    placed.push({ path, package: one });
    waiting.push(...one.dependencies.toSorted().map((key) => ({ key, above: [path, ...foldersAbove(path)] })));
  }
  return placed;
}

function toPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/node_modules/${name}`;
}

/** The packages that a package is inside of, the nearest first. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/node_modules/');
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - 1 - index).join('/node_modules/'));
}
