import { posix } from 'node:path';
import type { TarEntry } from '../tar/read-tar.js';
import { TAR_TYPE } from '../tar/tar-header.js';
import { readElf } from './elf-file.js';

/** Everything that an image may have, by path. */
const ALLOWED: readonly RegExp[] = [
  /^(dev|proc|run|sys|tmp)$/,
  /^etc(\/(passwd|group|nsswitch\.conf|os-release))?$/,
  /^(usr\/)?lib(64)?(\/(x86_64|aarch64)-linux-gnu)?(\/(ld-linux-[\w-]+\.so\.\d|lib(c|dl|m|pthread|gcc_s)\.so\.\d|libstdc\+\+\.so\.6[.\d]*))?$/,
  /^usr(\/bin(\/node)?|\/share(\/doc(\/[\w.+-]+(\/copyright)?)?)?)?$/,
  /^var(\/run|\/lib(\/dpkg(\/status\.d(\/[\w.+-]+)?)?)?)?$/,
  /^app(\/node_modules)?$/,
  /^app\/node_modules\/@?[\w.-]+(\/[^/.][^/]*)*$/,
];
/** Below app: code, data and licences. */
const CODE = /\.([cm]?js|json|node)$/;
/** What our programs read beside code: files of the page, and definitions of gRPC services. */
const DATA = /^app\/node_modules\/vmdhcp-[^/]+\/program\/.+\.(html|css|svg|proto)$/;
const LICENCE = /\/(licen[cs]e|copying|notice)[^/]*$/i;
const NOT_ALLOWED_BITS = 0o7022;
/** What an attacker inside a container looks for. */
const TOOLS = /(^|\/)(sh|bash|dash|busybox|env|npm|npx|pnpm|yarn|corepack|apt|apt-get|dpkg|curl|wget|tar)$/;
const STATUS = 'var/lib/dpkg';

export interface ScanSettings {
  readonly architecture: string;
  /** Texts that no file may have, such as the path of the source on the machine that builds. */
  readonly foreignTexts: readonly string[];
  /** Files that may have capabilities. */
  readonly privileged: readonly string[];
}

/** What an image has that it should not have, or lacks: one line for each, with its path. */
export function scanImage(entries: readonly TarEntry[], settings: ScanSettings): readonly string[] {
  const paths = new Set(entries.map(({ path }) => path));
  const names = new Set([...paths].map((path) => posix.basename(path)));
  return entries.flatMap((entry) => [
    ...pathProblems(entry),
    ...(entry.type === TAR_TYPE.link ? linkProblems(entry, paths) : modeProblems(entry)),
    ...(settings.privileged.includes(entry.path)
      ? []
      : entry.attributes.map((name) => `${entry.path}: has the attribute ${name}`)),
    ...(entry.type === TAR_TYPE.file ? contentProblems(entry, names, settings) : []),
  ]);
}

function pathProblems({ path, type }: TarEntry): readonly string[] {
  // Where scanners look for the list of packages; there is no package manager that would use it.
  if (type !== TAR_TYPE.folder && TOOLS.test(path)) return [`${path}: a tool, which no program of the image needs`];
  if (path !== STATUS && !ALLOWED.some((allowed) => allowed.test(path)))
    return [`${path}: not in the list of what an image may have`];
  if (path.startsWith('app/') && type === TAR_TYPE.file && ![CODE, DATA, LICENCE].some((known) => known.test(path)))
    return [`${path}: neither code nor a licence`];
  return [];
}

function modeProblems({ path, mode }: TarEntry): readonly string[] {
  return (mode & NOT_ALLOWED_BITS) === 0
    ? []
    : [`${path}: mode ${mode.toString(8)}; only root may write, and no file changes who runs it`];
}

function linkProblems({ path, target }: TarEntry, paths: ReadonlySet<string>): readonly string[] {
  const reached = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(path), target);
  return paths.has(reached) ? [] : [`${path}: a link to ${target}, which is not there`];
}

function contentProblems(
  { path, content }: TarEntry,
  names: ReadonlySet<string>,
  { architecture, foreignTexts }: ScanSettings,
): readonly string[] {
  const elf = readElf(content);
  if (elf === undefined)
    return foreignTexts
      .filter((text) => content.includes(text))
      .map((text) => `${path}: has ${text}, of the machine that built it`);
  const missing = elf.needs.filter((name) => !names.has(name)).map((name) => `${path}: needs ${name}, which is not there`);
  return elf.machine === architecture ? missing : [...missing, `${path}: for ${elf.machine}, not for ${architecture}`];
}
