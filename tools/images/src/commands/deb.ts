import { join, relative } from 'node:path';
import type { Program } from '@vmdhcp/service-process';
import { Command, Option } from 'commander';
import { ARCHITECTURES } from '../architecture.js';
import { buildIdentity } from '../build-identity.js';
import { buildDebianPackage } from '../deb/debian-package.js';
import { PROGRAM_IMAGES } from '../program-image.js';
import { architectureOption, partSources, ROOT } from './part-sources.js';

interface DebOptions {
  readonly output: string;
  readonly arch?: string;
  readonly version?: string;
}

/** `npm run images -- deb` */
export function debCommand(): Command {
  return new Command('deb')
    .description('Write the agent, with the Node that it needs, as a package of Debian: for one host, without Kubernetes.')
    .addOption(
      new Option('--output <dir>', 'where the packages go').default(join(ROOT, '.vmdhcp/deb'), '.vmdhcp/deb of this repository'),
    )
    .addOption(architectureOption())
    .option('--version <version>', 'the version of the package (default: that of the packages)')
    .action(deb);
}

async function deb({ output, arch, version }: DebOptions): Promise<void> {
  const agent = PROGRAM_IMAGES.find(({ name }) => name === 'agent');
  if (agent === undefined) throw new Error('there is no agent');
  const identity = await buildIdentity(ROOT, { ...(version && { version }), sourceDateEpoch: process.env['SOURCE_DATE_EPOCH'] });
  const { program } = (await import(join(ROOT, agent.folder, 'dist/program.js'))) as { readonly program: Program };
  const build = { sources: partSources(), identity, program, output };
  for (const architecture of ARCHITECTURES.filter(({ name }) => arch === undefined || arch === name)) {
    const { path, sizeBesideNode, filesBesideNode } = await buildDebianPackage(agent, architecture, build);
    const size = (sizeBesideNode / 1e6).toFixed(1);
    process.stdout.write(`${relative('.', path)}: beside Node ${size} MB in ${filesBesideNode} files\n`);
  }
}
