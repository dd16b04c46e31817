import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Architecture } from '../architecture.js';

/** Which packages of Debian are in the images: versions, and the SHA-256 of each file. */
export interface DebianLock {
  /** `bookworm` */
  readonly suite: string;
  /** `12` */
  readonly version: string;
  readonly packages: readonly LockedDebianPackage[];
}

export interface LockedDebianPackage {
  readonly name: string;
  readonly version: string;
  readonly sha256: Readonly<Record<Architecture['name'], string>>;
}

export const DEBIAN_LOCK = fileURLToPath(new URL('../../debian-lock.json', import.meta.url));

export async function readDebianLock(): Promise<DebianLock> {
  return JSON.parse(await readFile(DEBIAN_LOCK, 'utf8')) as DebianLock;
}
