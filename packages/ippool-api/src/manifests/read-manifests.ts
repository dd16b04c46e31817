/**
 * Reads a file of Kubernetes objects: the objects of every document and of every list, each with the positions of its fields, and an explanation of
 * every part that is not YAML.
 */
import { type Document, isAlias, isCollection, isNode, isPair, LineCounter, parseAllDocuments } from 'yaml';
import { explainYamlError } from './explain-yaml-error.js';
import { kubernetesTags } from './kubernetes-yaml.js';

/** Line and column in a file, from 1. */
export interface Position {
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

/** An object of a YAML file, and where each of its fields stands. */
export interface ManifestObject {
  /** The content of the document or of the list's item: any value. */
  readonly value: unknown;
  /** The position of the field, or of its nearest parent in the file. */
  readonly positionOf: (path: readonly (string | number)[]) => Position;
}

/** A position where the YAML is invalid. */
export interface SyntaxProblem extends Position {
  readonly message: string;
  readonly remedy: string;
}

/** The objects of a YAML file, and what cannot be read of it. */
export interface Manifests {
  /** In the order of the text. A document that is not YAML has no objects. */
  readonly objects: readonly ManifestObject[];
  readonly problems: readonly SyntaxProblem[];
}

/** Limits the growth by aliases of aliases. */
const MOST_ALIASES = 100;
/** Limits how many fields and values all aliases of a text repeat. */
const MOST_REPEATED = 10_000;

/** Reads any text as kubectl does. Never throws. */
export function readManifests(text: string): Manifests {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, {
    lineCounter: lines,
    maxAliasCount: MOST_ALIASES,
    customTags: kubernetesTags,
  } as never) as Document[];
  const aliases = new AliasBudget();
  const read = documents.map((document) => readDocument(document, lines, aliases));
  return { objects: read.flatMap(({ objects }) => objects), problems: read.flatMap(({ problems }) => problems) };
}

function readDocument(document: Document, lines: LineCounter, aliases: AliasBudget): Manifests {
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ code, pos: [offset] }) => ({
      ...toPosition(lines, offset),
      ...explainYamlError(code),
    }));
    // A second error in the same line is usually a consequence of the first.
    return { objects: [], problems: problems.filter(({ line }, at) => problems.findIndex((one) => one.line === line) === at) };
  }
  if (document.contents === null) return { objects: [], problems: [] };
  const positionOf = (path: readonly (string | number)[]) => findPosition(document, path, lines);
  try {
    aliases.take(document);
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    // Like kubectl, ignore an empty document.
    return { objects: value === null || value === undefined ? [] : flatten(value, positionOf, 0), problems: [] };
  } catch {
    const message = 'the aliases of this document repeat too much, or name no anchor';
    return { objects: [], problems: [{ ...positionOf([]), message, remedy: 'write the values instead of aliases' }] };
  }
}

/** How much may still be repeated. */
class AliasBudget {
  #left = MOST_REPEATED;

  /** @throws RangeError if the aliases of the document repeat more than that. */
  take({ contents }: Document): void {
    const sizes = new Map<string, number>();
    const sizeOf = (node: unknown): number => {
      if (isAlias(node)) return this.#spend(sizes.get(node.source) ?? 0);
      const parts = isPair(node) ? [node.key, node.value] : isCollection(node) ? node.items : [];
      const size = parts.reduce<number>((sum, part) => sum + sizeOf(part), 1);
      if (isNode(node) && 'anchor' in node && typeof node.anchor === 'string') sizes.set(node.anchor, size);
      return size;
    };
    sizeOf(contents);
  }

  #spend(size: number): number {
    this.#left -= size;
    if (this.#left < 0) throw new RangeError('aliases repeat too much');
    return size;
  }
}

/** A `kind: List`, of `kubectl get -o yaml`, may hold lists. */
const MOST_LISTS = 8;

function flatten(value: unknown, positionOf: ManifestObject['positionOf'], depth: number): ManifestObject[] {
  const items = itemsOf(value);
  if (items === undefined || depth === MOST_LISTS) return [{ value, positionOf }];
  return items.flatMap((item, index) => flatten(item, (path) => positionOf(['items', index, ...path]), depth + 1));
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? items : undefined;
}

function findPosition(document: Document, path: readonly (string | number)[], lines: LineCounter): Position {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as
      | { readonly range?: readonly [number, number, number] }
      | undefined;
    if (node?.range !== undefined && node.range !== null) return toPosition(lines, node.range[0]);
  }
  return { line: 1, column: 1 };
}

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}
