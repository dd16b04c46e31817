import { Argument, Command } from 'commander';
import { ARCHITECTURES } from '../architecture.js';
import { imageLayers } from '../image-layers.js';
import { PROGRAM_IMAGES } from '../program-image.js';
import { writeTar } from '../tar/write-tar.js';
import { architectureOption, mirrorOption, PROGRAM_NAMES, partSources } from './part-sources.js';

/** `npm run images -- rootfs` */
export function rootfsCommand(): Command {
  return new Command('rootfs')
    .description('Print the files of an image as one tar archive, for a Dockerfile or for a look into it.')
    .addArgument(new Argument('<program>').choices(PROGRAM_NAMES))
    .addOption(architectureOption().makeOptionMandatory())
    .addOption(mirrorOption())
    .action(rootfs);
}

async function rootfs(
  name: string,
  { arch, debianMirror }: { readonly arch: string; readonly debianMirror: string },
): Promise<void> {
  const program = PROGRAM_IMAGES.find((one) => one.name === name);
  const architecture = ARCHITECTURES.find((one) => one.name === arch);
  if (program === undefined || architecture === undefined) throw new Error(`there is no image ${name} for ${arch}`);
  const { layers } = await imageLayers(program, architecture, partSources(debianMirror));
  process.stdout.write(writeTar(layers.flatMap(({ entries }) => entries)));
}
