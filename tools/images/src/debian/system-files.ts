import { IMAGE_USER } from '../program-image.js';
import { type ImageEntry, textFile } from '../tree/image-entry.js';
import type { DebianLock } from './debian-lock.js';

const MOUNT_POINTS = ['dev', 'proc', 'run', 'sys', 'tmp'];
const FOLDER_MODE = 0o755;

/** What the C library, and those who look into images, expect in every Linux system; and folders for what is mounted there. */
export function systemFiles({ version, suite }: DebianLock): readonly ImageEntry[] {
  return [
    textFile('etc/passwd', `root:x:0:0:root:/:/sbin/nologin\nvmdhcp:x:${IMAGE_USER}:${IMAGE_USER}:vmdhcp:/:/sbin/nologin\n`),
    textFile('etc/group', `root:x:0:\nvmdhcp:x:${IMAGE_USER}:\n`),
    textFile('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    textFile(
      'etc/os-release',
      `PRETTY_NAME="Debian GNU/Linux ${version} (${suite}), libraries only"\nNAME="Debian GNU/Linux"\nVERSION_ID="${version}"\n` +
        `VERSION="${version} (${suite})"\nVERSION_CODENAME=${suite}\nID=debian\nHOME_URL="https://www.debian.org/"\n`,
    ),
    // Kubernetes mounts the ServiceAccount's token below it.
    { kind: 'link', path: 'var/run', target: '/run' },
    ...MOUNT_POINTS.map((path) => ({ kind: 'folder' as const, path, mode: FOLDER_MODE })),
  ];
}
