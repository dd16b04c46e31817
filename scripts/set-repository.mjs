// node scripts/set-repository.mjs https://github.com/OWNER/NAME: writes the address of the repository, and what follows from it, into every file that has it.
// Without an address it writes what package.json has.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeRepository, publishedFields, publishedPackages, readRepository, withPublished } from './repository.mjs';

const [address, folder = '.'] = process.argv.slice(2);
if (address?.startsWith('-')) {
  const [text] = readFileSync(new URL(import.meta.url), 'utf8').split('import ', 1);
  process.stdout.write(text.replaceAll(/^\/\/ /gm, ''));
  process.exit(0);
}
const root = resolve(folder);
const before = readRepository(root);
const after = describeRepository(address ?? before.url);

for (const path of execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0')) {
  if (path !== '' && path !== 'scripts/repository.mjs') rewrite(join(root, path));
}
const readme = join(root, 'README.md');
writeFileSync(readme, withPublished(readFileSync(readme, 'utf8'), after));
for (const { folder: packageFolder, manifest } of publishedPackages(root)) {
  const { name, version, description, keywords } = manifest;
  const published = publishedFields(after, packageFolder);
  const fields = { name, version, description, keywords, ...published, ...manifest, ...published };
  writeFileSync(join(root, packageFolder, 'package.json'), `${JSON.stringify(fields, null, 2)}\n`);
}
process.stdout.write(`${after.url}\n`);

function rewrite(path) {
  const text = readFileSync(path, 'utf8');
  const renamed = text
    .replaceAll(`github.com/${before.owner}/${before.name}`, `github.com/${after.owner}/${after.name}`)
    .replaceAll(`${before.registry}/`, `${after.registry}/`)
    .replaceAll(`@${before.owner}/`, `@${after.owner}/`);
  if (renamed !== text) writeFileSync(path, renamed);
}
