// node scripts/print-notes.mjs VERSION: what changed in that version, from the CHANGELOGs of the packages; the same change of several packages once.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages, repository } from './repository.mjs';

const [version = ''] = process.argv.slice(2);
const changes = new Map();
for (const { folder, manifest } of publishedPackages()) {
  for (const change of changesOf(join(folder, 'CHANGELOG.md')))
    changes.set(change, [...(changes.get(change) ?? []), manifest.name]);
}
if (changes.size === 0) {
  process.stderr.write(`no CHANGELOG has a change of version ${version}; run: node scripts/start.mjs version\n`);
  process.exit(65);
}
process.stdout.write(`Install: ${repository.url}/blob/v${version}/docs/install.md\n\n`);
for (const [change, names] of changes) process.stdout.write(`- ${change}\n\n  *${names.join(', ')}*\n`);

/** The entries below `## VERSION`. */
function changesOf(path) {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const [, section = ''] = text.split(new RegExp(`^## ${version.replaceAll('.', '\\.')}$`, 'm'));
  const [own = ''] = section.split(/^## /m);
  return own
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.split(/^###/m)[0].trim())
    .filter((entry) => entry !== '');
}
