// npm run packages [-- NAME...]: packs packages as npm would get them, each with those of ours that it needs, into .vmdhcp/packages. NAME is a folder of
// packages/ or the name of a package; without one, all. `npm install PATH/.vmdhcp/packages/*.tgz` installs what was packed last.
import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { neededPackages, packPackage } from '../packed-packages.mjs';
import { publishedPackages } from '../repository.mjs';

const names = process.argv.slice(2);
const all = publishedPackages();
const unknown = names.filter((name) => !all.some((one) => isNamed(one, name)));
if (unknown.length > 0) {
  const known = all.map(({ folder }) => folder.replace('packages/', '')).join(', ');
  process.stderr.write(`there is no package ${unknown.join(', ')}; there are ${known}\n`);
  process.exit(64);
}
const output = join(process.cwd(), '.vmdhcp/packages');
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
const wanted = names.length === 0 ? all : all.filter((one) => names.some((name) => isNamed(one, name)));
for (const one of neededPackages(wanted, all)) process.stdout.write(`${relative('.', packPackage(one, output))}\n`);
process.stdout.write(`\nIn the folder of your project: npm install ${output}/*.tgz\n`);

function isNamed({ folder, manifest }, name) {
  return [manifest.name, folder, folder.replace('packages/', '')].includes(name.replace(/\/$/, ''));
}
