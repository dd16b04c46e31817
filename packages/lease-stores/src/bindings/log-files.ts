/** What the file of bindings needs of a file system, so that tests can have a disk that fails and crashes at every octet. */
import { type FileHandle, open, rename, rm } from 'node:fs/promises';

export interface LogFile {
  /** Adds the octets at the end of the file. A write that fails may have added some of them. */
  readonly append: (bytes: Uint8Array) => Promise<void>;
  /** The octets from this position on, at most as many as `into` has; 0: the end. */
  readonly read: (into: Uint8Array, position: number) => Promise<number>;
  /** Resolves when what was appended is on the disk. */
  readonly flush: () => Promise<void>;
  readonly truncate: (length: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface LogFiles {
  /** Undefined: there is no such file. */
  readonly open: (path: string) => Promise<LogFile | undefined>;
  /** An empty file, in the place of one that was there. */
  readonly create: (path: string) => Promise<LogFile>;
  /** The file has the other name from now on, in the place of one that had it; on the disk when `flushFolder` resolves. */
  readonly rename: (from: string, to: string) => Promise<void>;
  readonly remove: (path: string) => Promise<void>;
  readonly flushFolder: (path: string) => Promise<void>;
}

const FILE_MODE = 0o640;

/** Files of this machine. */
export const nodeLogFiles: LogFiles = {
  open: async (path) => {
    try {
      return toLogFile(await open(path, 'r+'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  },
  create: async (path) => toLogFile(await open(path, 'w+', FILE_MODE)),
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
  /** Undefined until the first write, and after what may have changed it. */
  let end: number | undefined;
  return {
    append: async (bytes) => {
      let position = end ?? (await endOf(handle));
      end = undefined;
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position);
        if (bytesWritten === 0) throw new Error('the file system takes no octets');
        written += bytesWritten;
        position += bytesWritten;
      }
      end = position;
    },
    read: async (into, position) => (await handle.read(into, 0, into.length, position)).bytesRead,
    // Source: fdatasync(2): the size of the file is flushed too, as it is needed to read what was appended.
    flush: () => handle.datasync(),
    truncate: async (length) => {
      end = undefined;
      await handle.truncate(length);
    },
    close: () => handle.close(),
  };
}
