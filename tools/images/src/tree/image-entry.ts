/** What an image consists of, before it is bytes. Paths are relative to the root of the image, without a slash in front. */

/** By the names that Linux gives them, without `CAP_`. */
export type Capability = 'NET_BIND_SERVICE' | 'NET_ADMIN' | 'NET_RAW';

export interface FileEntry {
  readonly kind: 'file';
  readonly path: string;
  /** Permission bits: 0o644, or 0o755 for programs. */
  readonly mode: number;
  readonly content: Buffer;
  /** What the program may take into use when it is executed (file capabilities, permitted). */
  readonly capabilities?: readonly Capability[];
}

export interface FolderEntry {
  readonly kind: 'folder';
  readonly path: string;
  readonly mode: number;
}

export interface LinkEntry {
  readonly kind: 'link';
  readonly path: string;
  /** As the link has it: relative to its folder, or absolute. */
  readonly target: string;
}

export type ImageEntry = FileEntry | FolderEntry | LinkEntry;

const READABLE = 0o644;

/** A file that any user may read and only root may write. */
export function textFile(path: string, text: string): FileEntry {
  return { kind: 'file', path, mode: READABLE, content: Buffer.from(text) };
}
