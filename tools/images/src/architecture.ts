/** The processors that images are built for: what each of them is called by those who ship parts. */
export interface Architecture {
  /** As OCI and Debian call it. */
  readonly name: 'amd64' | 'arm64';
  /** As Node and npm call it. */
  readonly npm: 'x64' | 'arm64';
  /** Folder of its libraries in Debian. */
  readonly triplet: string;
  /** What the kernel starts programs with; part of the programs. */
  readonly loader: string;
}

export const ARCHITECTURES: readonly Architecture[] = [
  { name: 'amd64', npm: 'x64', triplet: 'x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2' },
  { name: 'arm64', npm: 'arm64', triplet: 'aarch64-linux-gnu', loader: 'lib/ld-linux-aarch64.so.1' },
];
