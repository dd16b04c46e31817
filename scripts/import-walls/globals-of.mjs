// Which globals a source uses, as values and as types. A parameter, a variable or a property of that name is not the global.
import { childrenOf } from './walk.mjs';

/** By type of node: the key whose identifier names a part of something, unless it is computed. */
const NAME_OF_A_PART = {
  MemberExpression: 'property',
  Property: 'key',
  MethodDefinition: 'key',
  PropertyDefinition: 'key',
  AccessorProperty: 'key',
  TSAbstractMethodDefinition: 'key',
  TSAbstractPropertyDefinition: 'key',
  TSPropertySignature: 'key',
  TSMethodSignature: 'key',
  TSMappedType: 'key',
  TSEnumMember: 'id',
  TSQualifiedName: 'right',
  TSImportType: 'qualifier',
  TSNamedTupleMember: 'label',
  TSTypeParameter: 'name',
  ImportSpecifier: 'imported',
  ExportSpecifier: 'exported',
  ExportAllDeclaration: 'exported',
  ImportAttribute: 'key',
  LabeledStatement: 'label',
  BreakStatement: 'label',
  ContinueStatement: 'label',
};
/** By type of node: the nodes that declare names for everything inside it. */
const DECLARING = {
  Program: ({ body }) => body,
  BlockStatement: ({ body }) => body,
  StaticBlock: ({ body }) => body,
  TSModuleBlock: ({ body }) => body,
  SwitchStatement: ({ cases }) => cases.flatMap(({ consequent }) => consequent),
  FunctionDeclaration: ({ params }) => params,
  FunctionExpression: ({ id, params }) => [id, ...params],
  ArrowFunctionExpression: ({ params }) => params,
  TSDeclareFunction: ({ params }) => params,
  TSEmptyBodyFunctionExpression: ({ params }) => params,
  TSFunctionType: ({ params }) => params,
  TSConstructorType: ({ params }) => params,
  TSCallSignatureDeclaration: ({ params }) => params,
  TSConstructSignatureDeclaration: ({ params }) => params,
  TSMethodSignature: ({ params }) => params,
  TSIndexSignature: ({ parameters }) => parameters,
  ClassExpression: ({ id }) => [id],
  CatchClause: ({ param }) => [param],
  ForStatement: ({ init }) => [init],
  ForInStatement: ({ left }) => [left],
  ForOfStatement: ({ left }) => [left],
};
/** By type of node: the nodes that hold the names that it declares. Interfaces and aliases are not here: `interface Date {}` leaves `Date.now` as it is. */
const DECLARED = {
  VariableDeclaration: ({ declarations }) => declarations.map(({ id }) => id),
  FunctionDeclaration: ({ id }) => [id],
  ClassDeclaration: ({ id }) => [id],
  TSDeclareFunction: ({ id }) => [id],
  TSEnumDeclaration: ({ id }) => [id],
  TSModuleDeclaration: ({ id }) => [id],
  TSImportEqualsDeclaration: ({ id }) => [id],
  TSParameterProperty: ({ parameter }) => [parameter],
  ImportDeclaration: ({ specifiers }) => specifiers.map(({ local }) => local),
  ExportNamedDeclaration: ({ declaration }) => [declaration],
  ObjectPattern: ({ properties }) => properties.map((property) => property.value ?? property),
  ArrayPattern: ({ elements }) => elements,
  AssignmentPattern: ({ left }) => [left],
  RestElement: ({ argument }) => [argument],
};

/**
 * Names that nothing around them declares: `{ name, use, start }`; the use is like `Date.now` or `new Date()`. Type parameters are among them: no
 * global has such a name.
 */
export function globalsOf(program) {
  const found = [];
  visit(program, { found, scopes: [], parent: undefined });
  return found;
}

function visit(node, { found, scopes, parent }) {
  if (holdsNames(node)) return;
  if (node.type === 'Identifier' && !scopes.some((names) => names.has(node.name)))
    found.push({ name: node.name, use: describeUse(node, parent), start: node.start });
  const declaring = DECLARING[node.type]?.(node);
  const inner = declaring === undefined ? scopes : [...scopes, new Set(declaring.flatMap(namesOf))];
  for (const [key, child] of childrenOf(node)) {
    const isNameOfPart = NAME_OF_A_PART[node.type] === key && node.computed !== true;
    if (!isNameOfPart) visit(child, { found, scopes: inner, parent: node });
  }
}

/** Parts of another module or of `import.meta`. */
function holdsNames({ type, source }) {
  return type === 'MetaProperty' || (type === 'ExportNamedDeclaration' && source !== null);
}

/** `declare const process` declares what is there without it: the global. */
function namesOf(node) {
  if (!node || node.declare === true) return [];
  if (node.type === 'Identifier') return [node.name];
  return (DECLARED[node.type]?.(node) ?? []).flatMap(namesOf);
}

function describeUse(node, parent) {
  if (parent.type === 'MemberExpression' && parent.object === node && !parent.computed)
    return `${node.name}.${parent.property.name}`;
  if (parent.type !== 'NewExpression' || parent.callee !== node) return node.name;
  return `new ${node.name}(${parent.arguments.length === 0 ? '' : '…'})`;
}
