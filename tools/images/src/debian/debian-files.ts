import type { Architecture } from '../architecture.js';
import { runCommand } from '../run-command.js';
import { readTar } from '../tar/read-tar.js';
import { TAR_TYPE } from '../tar/tar-header.js';
import { type ImageEntry, textFile } from '../tree/image-entry.js';

/** The libraries that Node needs, and what starts programs; besides, the licences. */
const LIBRARY = /(^|\/)(ld-linux-[\w-]+\.so\.\d|lib(c|dl|m|pthread|gcc_s)\.so\.\d|libstdc\+\+\.so\.6(\.\d+)*)$/;
const LICENCE = /^usr\/share\/doc\/[^/]+\/copyright$/;
/** Debian has the licence of these packages in the folder of another one. */
const LICENCE_LINK = /^usr\/share\/doc\/[^/]+$/;

/** What of a package of Debian is in an image, and the record by which scanners find out that it is there. */
export async function debianFiles(debPath: string, name: string, architecture: Architecture): Promise<readonly ImageEntry[]> {
  const [archive, control] = await Promise.all([
    runCommand(['dpkg-deb', '--fsys-tarfile', debPath]),
    runCommand(['dpkg-deb', '--field', debPath]),
  ]);
  const files = readTar(archive).flatMap((entry): readonly ImageEntry[] => {
    if (entry.type === TAR_TYPE.file && (LIBRARY.test(entry.path) || LICENCE.test(entry.path)))
      return [{ kind: 'file', path: entry.path, mode: entry.mode & 0o755, content: entry.content }];
    if (entry.type === TAR_TYPE.link && (isLibraryLink(entry.path, architecture) || LICENCE_LINK.test(entry.path)))
      return [{ kind: 'link', path: entry.path, target: entry.target }];
    return [];
  });
  return [...files, textFile(`var/lib/dpkg/status.d/${name}`, control.toString('utf8'))];
}

function isLibraryLink(path: string, { loader }: Architecture): boolean {
  return path === loader || LIBRARY.test(path);
}
