// The fields of our kinds, from the CustomResourceDefinitions that are generated from the schemas.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { code, table } from './markdown.mjs';

const BARE_METAL = ['clusteragents', 'hostendpoints', 'hoststatuses', 'hostoperations', 'leaseslices'].map(
  (name) => `bare-metal/${name}`,
);
const CRDS = ['ippools', 'virtualmachinenetworkconfigs', 'wolconfigs', ...BARE_METAL];

/** Name, title and text of the page. */
export const fieldPage = [
  'fields',
  'Fields',
  `The fields of each kind, with what the API server checks. From \`packages/ippool-api\`; \`vmdhcp-controller crds\` prints the definitions, and
\`kubectl explain ippool.spec.ipv4Config\` shows the same in a cluster. What may be left out of an IPPool because it is filled in: [admission](../admission.md#what-may-be-left-out-of-an-ippool).
A change of an immutable field is refused: delete the object and create it again.

${CRDS.map((name) => kindSection(parse(readFileSync(`packages/ippool-api/crds/${name}.yaml`, 'utf8')))).join('\n\n')}`,
];

function kindSection({ spec: { group, names, versions } }) {
  const [{ name: version, schema }] = versions;
  const root = schema.openAPIV3Schema;
  return [
    `## ${names.kind}`,
    `\`apiVersion: ${group}/${version}\`; ${shortNamesOf(names)}.`,
    ...Object.entries(root.properties).map(([name, one]) => `### ${names.kind} ${name}\n\n${fieldTable(name, one)}`),
    ...(root['x-kubernetes-validations'] === undefined
      ? []
      : [`Rules of the whole object:\n\n${rulesOf(root).map(item).join('\n')}`]),
  ].join('\n\n');
}

function shortNamesOf({ shortNames = [] }) {
  return shortNames.length === 0 ? 'no short names' : `short names: ${shortNames.map(code).join(', ')}`;
}

function fieldTable(name, schema) {
  return table(
    ['field', 'type', 'meaning', 'the API server checks'],
    fieldsOf(name, schema, false).map(({ path, one, isRequired }) => [
      code(path),
      typeOf(one),
      one.description ?? '',
      checksOf(one, isRequired).join('<br>'),
    ]),
  );
}

/** All fields below, in the order of the schema; `[]` is an entry of a list, `<key>` of a map. */
function fieldsOf(path, schema, isRequired) {
  return [
    { path, one: schema, isRequired },
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      fieldsOf(`${path}.${name}`, one, schema.required?.includes(name) === true),
    ),
    ...(schema.items?.type === 'object' ? fieldsOf(`${path}[]`, schema.items, false).slice(1) : []),
    ...(schema.additionalProperties?.type === 'object'
      ? fieldsOf(`${path}.<key>`, schema.additionalProperties, false).slice(1)
      : []),
  ];
}

function typeOf({ type, items, additionalProperties, format }) {
  if (type === 'array') return `list of ${typeOf(items)}`;
  if (additionalProperties?.type !== undefined) return `map of ${typeOf(additionalProperties)}`;
  return format === undefined ? (type ?? 'any') : `${type} (${format})`;
}

function checksOf(schema, isRequired) {
  const { enum: values, default: preset, items = {} } = schema;
  return [
    isRequired ? 'required' : undefined,
    values === undefined ? undefined : `one of ${values.map((value) => code(value)).join(', ')}`,
    preset === undefined ? undefined : `default ${code(JSON.stringify(preset))}`,
    boundsOf(schema),
    items.maxLength === undefined ? undefined : `each at most ${items.maxLength} characters`,
    ...rulesOf(schema),
  ].filter((check) => check !== undefined);
}

function boundsOf({ minimum, maximum, minLength, maxLength, minItems, maxItems, maxProperties }) {
  const bounds = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' entries'),
    range(undefined, maxProperties, ' entries'),
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? undefined : bounds.join(', ');
}

function range(least, most, unit) {
  if (least === undefined && most === undefined) return undefined;
  if (most === undefined) return `at least ${least}${unit}`;
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`;
}

/** What the API server prints when a rule does not hold. */
function rulesOf(schema) {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return rules.map(({ message, messageExpression }) => message ?? messageExpression);
}

function item(text) {
  return `- ${text}`;
}
