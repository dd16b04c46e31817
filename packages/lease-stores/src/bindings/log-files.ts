/** The file operations that the file of bindings needs, so that tests can use a disk that fails and crashes at every octet. */
import { constants } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { giveToOwnerOfFolder } from '../state/give-to-owner-of-folder.js';

/** A file that grows. */
export interface LogFile {
  /** Appends the octets to the file. A write that fails may have added some of them. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  /** Reads octets from this position, at most as many as `into` holds; 0 means the end of the file. */
  readonly read: (into: Uint8Array, position: number) => Promise<number>;
  /** Resolves when appended data is on the disk. */
  readonly flush: () => Promise<void>;
  readonly truncate: (length: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A folder with such files. */
export interface LogFiles {
  /** Undefined if the file does not exist. */
  readonly open: (path: string) => Promise<LogFile | undefined>;
  /** Creates an empty file, replacing an existing one. */
  readonly create: (path: string) => Promise<LogFile>;
  /** Renames the file, replacing an existing one; permanent when `flushFolder` resolves. */
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  readonly flushFolder: (path: string) => Promise<void>;
}

const FILE_MODE = 0o640;

/** The files of this machine. */
export const nodeLogFiles: LogFiles = {
  open: async (path) => {
    try {
      return toLogFile(await open(path, 'r+'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  },
  create: async (path) => {
    await rm(path, { force: true });
    // Nothing that the owner of the folder has put there is followed.
    const handle = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, FILE_MODE);
    try {
      giveToOwnerOfFolder(handle.fd, dirname(path));
    } catch (error) {
      await handle.close();
      throw error;
    }
    return toLogFile(handle);
  },
  rename,
  remove: (path) => rm(path, { force: true }),
  flushFolder: async (path) => {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
};

async function endOf(handle: FileHandle): Promise<number> {
  return (await handle.stat()).size;
}

function toLogFile(handle: FileHandle): LogFile {
  /** Undefined until the first write, and after any change to it. */
  let end: number | undefined;
  return {
    append: async (bytes) => {
      let position = end ?? (await endOf(handle));
      end = undefined;
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position);
        if (bytesWritten === 0) throw new Error('the file system accepts no octets');
        written += bytesWritten;
        position += bytesWritten;
      }
      end = position;
    },
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    // Source: fdatasync(2): the size of the file is flushed too, because it is needed to read the appended data.
    flush: () => handle.datasync(),
    truncate: async (length) => {
      end = undefined;
      await handle.truncate(length);
    },
    close: () => handle.close(),
  };
}
