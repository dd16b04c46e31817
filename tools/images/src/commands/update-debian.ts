import { writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { DEBIAN_LOCK, type DebianLock, readDebianLock } from '../debian/debian-lock.js';
import { mirrorOption, partSources } from './part-sources.js';

/** `npm run images -- update-debian` */
export function updateDebianCommand(): Command {
  return new Command('update-debian')
    .description('Write the current versions of Debian’s libraries into tools/images/debian-lock.json.')
    .addOption(mirrorOption())
    .action(updateDebian);
}

async function updateDebian({ debianMirror }: { readonly debianMirror: string }): Promise<void> {
  const lock = await readDebianLock();
  const { archive } = partSources(debianMirror);
  await archive.update(lock.suite);
  const packages = await Promise.all(lock.packages.map(({ name }) => archive.current(name)));
  const updated: DebianLock = { ...lock, packages };
  await writeFile(DEBIAN_LOCK, `${JSON.stringify(updated, undefined, 2)}\n`);
  for (const { name, version } of packages) process.stdout.write(`${name} ${version}\n`);
}
