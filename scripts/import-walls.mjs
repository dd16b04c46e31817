// What scripts/walls.mjs refuses, found in the text of one source, and where the table and the sources differ. Nothing here reads a file.
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { globalsOf } from './import-walls/globals-of.mjs';
import { importsOf } from './import-walls/imports-of.mjs';

/** Globals that read a clock, wait, draw a number or touch the world, or that lead to one that does. */
const IMPURE = new Set([
  ...['Date', 'process', 'console', 'performance', 'fetch', 'crypto', 'Buffer'],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'],
  ...['globalThis', 'global'],
]);
/** Pure objects with an impure part; `Math` as a whole (`const { random } = Math`) would hide it. */
const IMPURE_USES = new Set(['Math', 'Math.random', 'AbortSignal.timeout']);
const RELATIVE = /^\.{1,2}(\/|$)/;
const INSIDES = /^(@[^/]+\/)?[^/]+\/(src|dist)(\/|$)/;

/** Tests and fixtures import what they like. */
export function isJudged(path) {
  return !/(\.test|-fixtures)\.ts$/.test(path);
}

/**
 * @param path - from the root of the repository, like `packages/x/src/folder/a.ts`
 * @returns {{ findings: string[], imports: number }}
 */
export function judgeSource(path, text, packages) {
  const place = placeOf(path);
  const entry = packages[place.package];
  const { program, errors } = parseSync(path, text, { sourceType: 'module' });
  const imports = importsOf(program);
  const found = [
    ...errors.map(({ message, labels: [label] }) => ({ start: label?.start ?? 0, why: `cannot be parsed: ${message}` })),
    ...(entry === undefined ? [] : imports.flatMap((one) => judgeImport(one, place, entry))),
    ...(entry?.pure === true ? judgeGlobals(program, place, entry) : []),
  ];
  const toLine = (start) => text.slice(0, start).split('\n').length;
  return {
    findings: found.map(({ start, why }) => `${path}:${toLine(start)}: ${why} (scripts/walls.mjs)`),
    imports: imports.length,
  };
}

/** Where a file stands; its name in the table is that of its folder or, beside the folders, its own. */
function placeOf(path) {
  const [top, short, , ...inner] = path.split('/');
  const name = inner[0].replace(/\.[jt]s$/, '');
  return { path, package: `${top}/${short}`, short, file: inner.join('/'), name, isInFolder: inner.length > 1 };
}

function judgeImport({ source, start }, place, entry) {
  if (source === undefined)
    return entry.everything
      ? []
      : [{ start, why: 'imports what only a run can tell: write the name of the module as a literal' }];
  const why = RELATIVE.test(source) ? judgeRelative(source, place, entry.folders) : judgePackage(source, place, entry);
  return why === undefined ? [] : [{ start, why: `imports '${source}': ${why}` }];
}

/** The path is resolved first, so a deep one hides nothing. */
function judgeRelative(source, place, folders) {
  const { short } = place;
  const path = posix.join(posix.dirname(place.path), source);
  if (!path.startsWith(`${place.package}/src/`))
    return `it is outside of the sources of ${short}; import a package by what it exports`;
  const target = placeOf(path);
  if (!isOrdered(place, folders) || target.name === place.name) return undefined;
  const [own, other] = [place, target].map(({ name }) => folders.indexOf(name));
  if (other !== -1 && other < own) return undefined;
  if (['index', 'main'].includes(target.name))
    return `no folder of ${short} imports its entry point; import the file that declares the name`;
  const order = `a folder of ${short} imports only what stands before it`;
  if (other === -1) return `${order}, and ${target.name} has no place; give it one, or move it into a folder`;
  return `${order}; move what both need to an earlier folder, or take it as a parameter`;
}

/** Files beside the folders that have no place in the order may import all of the package. */
function isOrdered({ name, isInFolder }, folders) {
  return folders !== undefined && (isInFolder || folders.includes(name));
}

function judgePackage(source, place, entry) {
  if (INSIDES.test(source)) return 'import a package by what it exports';
  const { short, name } = place;
  const [from, allowed] = isEdge(place, entry) ? [`${short}/${name}`, entry.edges[name]] : [short, entry.imports];
  const matches = (pattern) => toExpression(pattern).test(source);
  if (entry.refused?.some((pattern) => matches(pattern) || matches(`${pattern}/**`)))
    return `${from} must not import it: ${entry.why}`;
  if (entry.everything || allowed.some(matches)) return undefined;
  return `${from} must not import it: ${entry.why}; take it as a parameter or a port, or let the table allow it`;
}

function isEdge({ name, isInFolder }, { edges = {} }) {
  return isInFolder && Object.hasOwn(edges, name);
}

/** `*` stands for a part of a name without a slash, `**` for any part. */
function toExpression(pattern) {
  const parts = pattern.split(/(\*+)/).map((part) => ({ '*': '[^/]*', '**': '.*' })[part] ?? part.replaceAll('.', '\\.'));
  return new RegExp(`^${parts.join('')}$`);
}

/** Permissions that a file does not need are findings too: they would let in what nobody looked at. */
function judgeGlobals(program, place, { edges, globals = {} }) {
  if (isEdge(place, { edges })) return [];
  const used = globalsOf(program).filter(({ name, use }) => IMPURE.has(name) || IMPURE_USES.has(use));
  const permitted = globals[place.file] ?? [];
  const why = `${place.short} is pure here; take time, randomness and I/O as parameters or ports`;
  return [
    ...used.filter(({ use }) => !permitted.includes(use)).map(({ use, start }) => ({ start, why: `uses ${use}: ${why}` })),
    ...permitted
      .filter((allowed) => !used.some(({ use }) => use === allowed))
      .map((allowed) => ({ start: 0, why: `does not use ${allowed}; take the permission out of the table` })),
  ];
}

/**
 * Where the table and the sources do not name the same packages, folders and files.
 * @param paths - of all sources that are judged
 * @param names - of the packages in this repository
 */
export function judgeTable(paths, names, packages) {
  const places = paths.map(placeOf);
  const withSources = [...new Set(places.map((place) => place.package))];
  const problems = [
    ...withSources
      .filter((path) => !Object.hasOwn(packages, path))
      .map((path) => `${path}: has no entry; add what it may import`),
    ...Object.entries(packages).flatMap(([path, entry]) => {
      const own = places.filter((place) => place.package === path);
      return [...judgeFolders(own, entry), ...judgeNames(own, names, entry)].map((why) => `${path}: ${why}`);
    }),
  ];
  return problems.map((problem) => `${problem} (scripts/walls.mjs)`);
}

function judgeFolders(places, { folders = [], everything }) {
  const found = new Set(places.map(({ name }) => name));
  const nested = new Set(places.filter(({ isInFolder }) => isInFolder).map(({ name }) => name));
  const mayLackOrder = everything === true && folders.length === 0;
  return [
    ...(places.length === 0 ? ['has an entry and no sources; take the entry out'] : []),
    ...[...nested]
      .filter((name) => !mayLackOrder && !folders.includes(name))
      .map((name) => `folder ${name} has no place in the order; give it one`),
    ...folders.filter((name) => !found.has(name)).map((name) => `the order names ${name}, which is not there; take it out`),
    ...folders.filter((name, at) => folders.indexOf(name) !== at).map((name) => `the order names ${name} twice`),
  ];
}

function judgeNames(places, names, { imports = [], refused = [], edges = {}, globals = {} }) {
  const isFolder = (name) => places.some((place) => place.isInFolder && place.name === name);
  const isFile = (name) => places.some(({ file }) => file === name);
  const ours = [imports, refused, ...Object.values(edges)].flat().filter((name) => /^@vmdhcp\/[^*]+$/.test(name));
  return [
    ...Object.keys(edges)
      .filter((name) => !isFolder(name))
      .map((name) => `edge ${name} is not a folder; take it out`),
    ...Object.keys(globals)
      .filter((name) => !isFile(name))
      .map((name) => `globals are permitted to ${name}, which is not there; take it out`),
    ...ours
      .filter((name) => !names.includes(name.split('/', 2).join('/')))
      .map((name) => `names ${name}, and no package has that name; take it out`),
  ];
}
