import { CommandError } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { buildCommand } from './commands/build.js';
import { debCommand } from './commands/deb.js';
import { rootfsCommand } from './commands/rootfs.js';
import { updateDebianCommand } from './commands/update-debian.js';

const EXAMPLES = `
Examples:
  npm run images                                         # both programs, amd64 and arm64, in .vmdhcp/images
  npm run images -- build --output /tmp/images --version 1.2.0 --json
  npm run images -- build --program agent --arch amd64
  npm run images -- build --archive --arch amd64         # one file for the nodes of a cluster: ctr images import images.tar
  npm run images -- rootfs agent --arch arm64 > agent-arm64.tar
  npm run images -- deb --arch amd64                     # .vmdhcp/deb: the agent for one host, with systemd
  npm run images -- update-debian                        # pins Debian's current libraries

  skopeo copy --all oci:.vmdhcp/images/agent:1.2.0 docker://registry.example.com/vmdhcp/agent:1.2.0

The same source gives the same digests, in any folder and at any time. The image's time is SOURCE_DATE_EPOCH, otherwise that of the commit.

Needs npm, and apt-get and dpkg-deb (Debian, Ubuntu) with /usr/share/keyrings/debian-archive-keyring.gpg; no root, no container engine.

Exit codes: 0 done, 64 wrong usage, 65 a part is not what the lockfile has, 69 a part cannot be fetched or a program is missing.
`;

/** `npm run images` */
export async function main(parameters: readonly string[]): Promise<void> {
  const program = new Command('npm run images --')
    .description('OCI images of the controller and of the agent, made of files alone.')
    .addHelpText('after', EXAMPLES)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 64));
  program.addCommand(buildCommand(), { isDefault: true });
  program.addCommand(debCommand());
  program.addCommand(rootfsCommand());
  program.addCommand(updateDebianCommand());
  try {
    await program.parseAsync(parameters, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.exitCode;
  }
}
