// What a package exports, read from the declarations that tsc emitted: name, doc comment and declaration of each export. TypeScript 7 has no stable
// API for this; declarations are small and regular, and need no types to be computed.
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseSync } from 'oxc-parser';

const files = new Map();

/**
 * The exports of one entry point, by name: `{ name, kind, doc, code }`; `from` instead of the rest where another package declares it. `path` is that of
 * an `index.d.ts`.
 */
export function exportsOf(path) {
  const { program } = readDeclarations(path);
  return program.body
    .filter(({ type }) => type === 'ExportNamedDeclaration' || type === 'ExportAllDeclaration')
    .flatMap((node) => exportsOfNode(path, node))
    .toSorted((one, other) => compare(one.name.toLowerCase(), other.name.toLowerCase()) || compare(one.name, other.name));
}

function exportsOfNode(path, node) {
  if (node.type === 'ExportAllDeclaration') return exportsOf(resolveSource(path, node.source.value));
  if (node.declaration !== null) return namesOf(node.declaration).map((name) => declarationOf(path, name, name));
  return node.specifiers.map(({ local, exported }) =>
    node.source === null
      ? declarationOf(path, local.name, exported.name)
      : declaredElsewhere(path, node.source.value, local.name, exported.name),
  );
}

function declaredElsewhere(path, source, localName, name) {
  return source.startsWith('.') ? declarationOf(resolveSource(path, source), localName, name) : { name, from: source };
}

/** The declarations of that name in a file (a function may have several), or what the file exports under it from another one. */
function declarationOf(path, localName, name) {
  const { text, program, comments } = readDeclarations(path);
  const statements = program.body.filter((node) => namesOf(node.declaration ?? node).includes(localName));
  const [first] = statements;
  if (first !== undefined) {
    return {
      name,
      kind: kindOf(first.declaration ?? first),
      doc: docBefore(first, text, comments) || docOfFile(path, localName, text, comments),
      code: statements.map(({ start, end }) => text.slice(start, end).replace(/^export (declare )?/, '')).join('\n'),
    };
  }
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') {
      const found = node.specifiers.find((specifier) => specifier.local.name === localName);
      if (found !== undefined) return declaredElsewhere(path, node.source.value, found.imported?.name ?? localName, name);
    }
    const exported = node.type === 'ExportNamedDeclaration' && node.source !== null ? node.specifiers : [];
    const found = exported.find((specifier) => specifier.exported.name === localName);
    if (found !== undefined) return declaredElsewhere(path, node.source.value, found.local.name, name);
  }
  throw new Error(`${path} declares no ${localName}`);
}

function namesOf(node) {
  if (node.type === 'VariableDeclaration') return node.declarations.map(({ id }) => id.name);
  return node.id?.name === undefined ? [] : [node.id.name];
}

function kindOf({ type }) {
  if (/Function/.test(type)) return 'function';
  if (/Class/.test(type)) return 'class';
  return type === 'VariableDeclaration' ? 'constant' : 'type';
}

/** The doc comment that ends where the statement begins, without its stars. */
function docBefore({ start }, text, comments) {
  return textOf(comments.findLast(({ end }) => end <= start && text.slice(end, start).trim() === ''));
}

/** A file that is named after what it exports may open with what that is. */
function docOfFile(path, name, text, comments) {
  const kebab = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase();
  const [first] = comments;
  const opens = first !== undefined && text.slice(0, first.start).trim() === '';
  return opens && basename(path) === `${kebab}.d.ts` ? textOf(first) : '';
}

function textOf(comment) {
  if (comment === undefined || !comment.value.startsWith('*')) return '';
  return comment.value
    .slice(1)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim();
}

function readDeclarations(path) {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, 'utf8');
  const { program, comments, errors } = parseSync(path, text, { sourceType: 'module' });
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const read = { text, program, comments };
  files.set(path, read);
  return read;
}

function resolveSource(path, source) {
  return join(dirname(path), source.replace(/\.js$/, '.d.ts'));
}

function compare(one, other) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
