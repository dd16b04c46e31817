/**
 * Replaces a file so that at every moment, whenever the process dies, its name or that of the copy before it leads to a whole file.
 *
 * 1. The new text is written to `NAME.next`, flushed to the disk, and read back: a file system may take a part of what it is given.
 * 2. The current file gets a second name, `NAME.link`, which then replaces `NAME.previous` in one step. On a file system without hard
 *    links it is copied to that name and flushed.
 * 3. `NAME.next` replaces `NAME` in one step, and the folder is flushed.
 */
import { createHash } from 'node:crypto';
import * as nodeFiles from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeWriteFailure } from './describe-write-failure.js';
import { giveToOwnerOfFolder } from './give-to-owner-of-folder.js';

/** The functions of `node:fs/promises` that are needed. */
export type FileOperations = Pick<typeof nodeFiles, 'open' | 'link' | 'copyFile' | 'rename' | 'rm'>;

export interface ReplacedFile {
  readonly folder: string;
  readonly name: string;
}

const READ_BACK_OCTETS = 64 << 10;

/**
 * Resolves when the whole text is on the disk under the file's name.
 * @throws Error that says what could not be done, and where. The file is unchanged then, unless only flushing the folder failed.
 */
export async function replaceFile(
  { folder, name }: ReplacedFile,
  chunks: Iterable<string>,
  files: FileOperations = nodeFiles,
): Promise<void> {
  const [current, next] = [join(folder, name), join(folder, `${name}.next`)];
  try {
    const written = await writeWhole(next, chunks, files);
    await readBack(next, written, files);
    await keepPrevious(current, files);
    await files.rename(next, current);
  } catch (error) {
    // The partial file uses space on a disk that may be full. If the removal fails, nothing changes: the next save overwrites it.
    await files.rm(next, { force: true }).catch(() => undefined);
    throw new Error(`${next} cannot be written: ${describeWriteFailure(error)}`, { cause: error });
  }
  await flushFolder(folder, files);
}

/** The expected content of a file. */
interface Written {
  readonly octets: number;
  readonly digest: string;
}

async function writeWhole(path: string, chunks: Iterable<string>, files: FileOperations): Promise<Written> {
  const hash = createHash('sha256');
  let octets = 0;
  await files.rm(path, { force: true });
  const file = await files.open(path, 'wx', 0o640);
  try {
    giveToOwnerOfFolder(file.fd, dirname(path));
    for (const chunk of chunks) {
      const bytes = Buffer.from(chunk);
      hash.update(bytes);
      octets += bytes.length;
      await writeAll(file, bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { octets, digest: hash.digest('hex') };
}

/** Source: write(2): the number of octets written may be less than requested, for example when the disk is nearly full. */
async function writeAll(file: nodeFiles.FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done);
    if (bytesWritten === 0) throw new Error('the disk accepts no more octets');
    done += bytesWritten;
  }
}

/** @throws Error if the content of the file differs from what was written. */
async function readBack(path: string, written: Written, files: FileOperations): Promise<void> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(READ_BACK_OCTETS);
  let octets = 0;
  const file = await files.open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, octets);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      octets += bytesRead;
    }
  } finally {
    await file.close();
  }
  if (octets !== written.octets) throw new Error(`it has ${octets} octets but ${written.octets} were written`);
  if (hash.digest('hex') !== written.digest) throw new Error('it does not hold the octets that were written');
}

/** Makes the current file the previous one too; without a current file, the previous one stays. */
async function keepPrevious(current: string, files: FileOperations): Promise<void> {
  const link = `${current}.link`;
  await files.rm(link, { force: true });
  try {
    await linkOrCopy(current, link, files);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  await files.rename(link, `${current}.previous`);
  // Source: rename(2): if both names already refer to one file, as after a crash, nothing is done and the link stays.
  await files.rm(link, { force: true });
}

/**
 * FAT and some network file systems have no links (EPERM, EOPNOTSUPP, ENOSYS); if there is another reason, the copy fails as
 * well.
 */
async function linkOrCopy(file: string, name: string, files: FileOperations): Promise<void> {
  try {
    await files.link(file, name);
  } catch {
    await files.copyFile(file, name);
    await flush(name, files);
  }
}

async function flushFolder(folder: string, files: FileOperations): Promise<void> {
  try {
    await flush(folder, files);
  } catch (error) {
    throw new Error(`folder ${folder} cannot be flushed to the disk: ${describeWriteFailure(error)}`, { cause: error });
  }
}

async function flush(path: string, files: FileOperations): Promise<void> {
  const handle = await files.open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
