import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Program } from '@vmdhcp/service-process';
import type { Architecture } from '../architecture.js';
import { npmParts, type PartSources } from '../image-layers.js';
import type { BuildIdentity } from '../oci/image-config.js';
import { MODULES, type ProgramImage } from '../program-image.js';
import { runCommand } from '../run-command.js';
import { type FileEntry, textFile } from '../tree/image-entry.js';
import { bashCompletion, manualPage } from './program-pages.js';
import { SERVICE_SETTINGS, SERVICE_UNIT } from './service-unit.js';

const NAME = 'vmdhcp-agent';
const FOLDER = `usr/lib/${NAME}`;
const EXECUTABLE = 0o755;
const DATE_LENGTH = 10;

const WRAPPER = `#!/bin/sh
exec /${FOLDER}/node /${FOLDER}/node_modules/${NAME}/bin/${NAME}.js "$@"
`;

/** What dpkg runs: systemd reads the unit again, and a service that is removed ends. */
const SCRIPTS: Readonly<Record<string, string>> = {
  postinst: `#!/bin/sh
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
systemctl try-restart ${NAME}.service
`,
  prerm: `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then systemctl disable --now ${NAME}.service; fi
`,
  postrm: `#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
if [ "$1" = purge ]; then rm -rf /var/lib/${NAME} /var/lib/private/${NAME}; fi
`,
};

export interface DebianBuild {
  readonly sources: PartSources;
  readonly identity: BuildIdentity;
  /** The command line, of which the manual page and the completions are made. */
  readonly program: Program;
  /** A folder. */
  readonly output: string;
}

export interface DebianPackage {
  readonly path: string;
  /** Octets of everything but Node. */
  readonly sizeBesideNode: number;
  readonly filesBesideNode: number;
}

/** Writes the agent with the Node that it needs as a package of Debian, for one host. Needs dpkg-deb. */
export async function buildDebianPackage(
  image: ProgramImage,
  architecture: Architecture,
  { sources, identity, program, output }: DebianBuild,
): Promise<DebianPackage> {
  const { packages, node } = await npmParts(image, architecture, sources);
  const besideNode = [...packages.map((file) => ({ ...file, path: file.path.replace(MODULES, `${FOLDER}/node_modules`) }))];
  besideNode.push(...(await furtherFiles(sources.root, identity, program)));
  const files = [{ ...node, path: `${FOLDER}/node` }, ...besideNode];
  const sizeBesideNode = sizeOf(besideNode);
  const path = join(output, `${NAME}_${identity.version}_${architecture.name}.deb`);
  const folder = await mkdtemp(join(tmpdir(), 'vmdhcp-deb-'));
  try {
    for (const file of files) await write(folder, file);
    for (const file of controlFiles(architecture, identity, sizeOf(files))) await write(folder, file);
    await mkdir(output, { recursive: true });
    const seconds = Math.floor(Date.parse(identity.created) / 1000);
    await runCommand([
      'env',
      `SOURCE_DATE_EPOCH=${seconds}`,
      'dpkg-deb',
      '--root-owner-group',
      '-Zgzip',
      '--build',
      folder,
      path,
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
  return { path, sizeBesideNode, filesBesideNode: besideNode.length };
}

async function furtherFiles(root: string, { created }: BuildIdentity, program: Program): Promise<readonly FileEntry[]> {
  const read = (path: string) => readFile(join(root, path), 'utf8');
  const doc = `usr/share/doc/${NAME}`;
  const page = gzipSync(manualPage(program, created.slice(0, DATE_LENGTH)), { level: 9 });
  return [
    { ...textFile(`usr/bin/${NAME}`, WRAPPER), mode: EXECUTABLE },
    textFile(`usr/lib/systemd/system/${NAME}.service`, SERVICE_UNIT),
    textFile(`etc/default/${NAME}`, SERVICE_SETTINGS),
    { kind: 'file', path: `usr/share/man/man1/${NAME}.1.gz`, mode: 0o644, content: page },
    textFile(`usr/share/bash-completion/completions/${NAME}`, bashCompletion(program)),
    textFile(`${doc}/copyright`, await read('LICENSE')),
    textFile(`${doc}/examples/pools.yaml`, await read('examples/two-networks.yaml')),
  ];
}

/** Source: Debian policy, chapters 5 and 6. */
function controlFiles(architecture: Architecture, { version, source }: BuildIdentity, size: number): readonly FileEntry[] {
  const control = `Package: ${NAME}
Version: ${version}
Architecture: ${architecture.name}
Maintainer: The vmdhcp authors <noreply@example.com>
Installed-Size: ${Math.ceil(size / 1024)}
Depends: libc6 (>= 2.28), libgcc-s1, libstdc++6
Section: net
Priority: optional
Homepage: ${source ?? 'https://example.com'}
Description: DHCP server for virtual machines and bare-metal hosts
 Serves pools of a file on interfaces of this host, as it serves those of a
 Kubernetes cluster. Contains the Node that it needs.
`;
  return [
    textFile('DEBIAN/control', control),
    textFile('DEBIAN/conffiles', `/etc/default/${NAME}\n`),
    ...Object.entries(SCRIPTS).map(([name, script]) => ({ ...textFile(`DEBIAN/${name}`, script), mode: EXECUTABLE })),
  ];
}

async function write(folder: string, { path, mode, content }: FileEntry): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true, mode: EXECUTABLE });
  await writeFile(file, content, { mode });
}

function sizeOf(files: readonly FileEntry[]): number {
  return files.reduce((sum, { content }) => sum + content.length, 0);
}
