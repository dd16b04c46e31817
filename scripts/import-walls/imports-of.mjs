// What a source imports, in every form that TypeScript has for it.
import { childrenOf } from './walk.mjs';

/** By type of node: the expression that names what is imported. */
const SOURCES = {
  ImportDeclaration: ({ source }) => source,
  ExportNamedDeclaration: ({ source }) => source,
  ExportAllDeclaration: ({ source }) => source,
  ImportExpression: ({ source }) => source,
  TSImportType: ({ source }) => source,
  TSExternalModuleReference: ({ expression }) => expression,
  TSModuleDeclaration: ({ id }) => (id.type === 'Literal' ? id : undefined),
  CallExpression: ({ callee, arguments: [first] }) => (callee.name === 'require' ? first : undefined),
};

/**
 * All imports below a node, in the order of the text: `{ source, start, isType }`. The source is undefined where only a run of the program can
 * tell it.
 */
export function importsOf(node) {
  const found = SOURCES[node.type]?.(node);
  const own = found ? [{ source: textOf(found), start: node.start, isType: isType(node) }] : [];
  return [...own, ...childrenOf(node).flatMap(([, child]) => importsOf(child))];
}

function textOf(expression) {
  if (expression.type === 'TemplateLiteral' && expression.expressions.length === 0) return expression.quasis[0].value.cooked;
  return typeof expression.value === 'string' ? expression.value : undefined;
}

/** Whether the import is gone once the program is compiled. */
function isType({ type, importKind, exportKind }) {
  return importKind === 'type' || exportKind === 'type' || type === 'TSImportType' || type === 'TSModuleDeclaration';
}
