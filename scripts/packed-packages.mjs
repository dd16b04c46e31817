// Packages as npm gets them.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/** These packages and those of ours that they need, each once; all of them as `publishedPackages` returns them. */
export function neededPackages(packages, all) {
  const needed = new Set(packages);
  for (const { manifest } of needed)
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
      const one = all.find((other) => other.manifest.name === name);
      if (one !== undefined) needed.add(one);
    }
  return [...needed];
}

/** Packs one package into a folder. Returns the path of the tarball. */
export function packPackage({ folder }, output) {
  const parameters = ['pack', '--pack-destination', output, '--json'];
  const printed = execFileSync('pnpm', parameters, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  return resolve(output, JSON.parse(printed.slice(printed.indexOf('{'))).filename);
}
