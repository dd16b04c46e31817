import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../api-object.js';
import { checkCustomResourceDefinition, checkCustomResourceDefinitionUpdate } from './check-custom-resource-definition.js';
import { completeCustomResourceDefinition } from './complete-custom-resource-definition.js';

function definition(schema: JsonObject | undefined, spec: JsonObject = {}): JsonObject {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    ...(schema === undefined ? {} : { schema: { openAPIV3Schema: schema } }),
  };
  return {
    metadata: { name: 'bads.bad.example.com' },
    spec: { group: 'bad.example.com', scope: 'Namespaced', names: { plural: 'bads', kind: 'Bad' }, versions: [version], ...spec },
  };
}

function causesOf(crd: JsonObject): string[] {
  return checkCustomResourceDefinition(completeCustomResourceDefinition(crd)).causes.map(
    ({ field, message }) => `${field}: ${message}`,
  );
}

/** What is wrong with a definition whose `spec` is `spec`; where that is, is left out. */
function causesOfSpec(spec: JsonObject): string[] {
  const at = 'spec.validation.openAPIV3Schema.properties[spec]';
  return causesOf(definition({ type: 'object', properties: { spec } })).map((cause) => cause.replaceAll(at, '@'));
}

describe('a CustomResourceDefinition', () => {
  it('gets the names, the conversion and the status that follow from what is given', () => {
    expect(completeCustomResourceDefinition(definition({ type: 'object' }))).toMatchObject({
      spec: { names: { plural: 'bads', singular: 'bad', kind: 'Bad', listKind: 'BadList' }, conversion: { strategy: 'None' } },
      status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
    });
  });

  it.each<readonly [string, JsonObject, string]>([
    ['no schema', definition(undefined), 'spec.versions[0].schema.openAPIV3Schema: Required value'],
    [
      'another name',
      { ...definition({ type: 'object' }), metadata: { name: 'wrong.example.com' } },
      'metadata.name: Invalid value: "wrong.example.com": must be spec.names.plural+"."+spec.group',
    ],
    [
      'an unknown scope',
      definition({ type: 'object' }, { scope: 'World' }),
      'spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"',
    ],
    [
      'a column without path',
      definition(
        { type: 'object' },
        {
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object' } },
              additionalPrinterColumns: [{ name: 'A', type: 'string' }],
            },
          ],
        },
      ),
      'spec.versions[0].additionalPrinterColumns[0].jsonPath: Required value',
    ],
  ])('is refused with %s', (_, crd, cause) => {
    expect(causesOf(crd)).toEqual([cause]);
  });

  it('has one storage version', () => {
    const version = (name: string): JsonObject => ({
      name,
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object' } },
    });
    const causes = causesOf(definition(undefined, { versions: [version('v1'), version('v2')] }));
    expect(causes[0]).toMatch(
      /^spec.versions: Invalid value: \[\{"Name":"v1",.*\]: must have exactly one version marked as storage version$/,
    );
    expect(causes[1]).toBe('status.storedVersions: Invalid value: ["v1"]: must have the storage version v2');
  });

  it('keeps its scope once it is established, and its group always', () => {
    const old = { ...definition({ type: 'object' }), status: { conditions: [{ type: 'Established', status: 'True' }] } };
    const changed = definition({ type: 'object' }, { scope: 'Cluster', group: 'other.example.com' });
    const fields = (before: JsonObject): string[] =>
      checkCustomResourceDefinitionUpdate(changed, before).map(({ field }) => field);
    expect(fields(old)).toEqual(['spec.scope', 'spec.group']);
    expect(fields(definition({ type: 'object' }))).toEqual(['spec.group']);
  });
});

describe('a schema', () => {
  it('has to be structural', () => {
    const schema = {
      properties: { spec: { properties: { a: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, b: { type: 'array' } } } },
    };
    const at = 'spec.validation.openAPIV3Schema';
    expect(causesOf(definition(schema))).toEqual([
      `${at}.properties[spec].properties[a].anyOf[0].type: Forbidden: must be empty to be structural`,
      `${at}.properties[spec].properties[a].anyOf[1].type: Forbidden: must be empty to be structural`,
      `${at}.properties[spec].properties[a].type: Required value: must not be empty for specified object fields`,
      `${at}.properties[spec].properties[b].items: Required value: must be specified`,
      `${at}.properties[spec].type: Required value: must not be empty for specified object fields`,
      `${at}.type: Required value: must not be empty at the root`,
    ]);
  });

  it.each<readonly [string, JsonObject, string]>([
    [
      'a default of another type',
      { type: 'integer', default: 'x' },
      '@.default: Invalid value: "string":  in body must be of type integer: "string"',
    ],
    [
      'a list map without keys',
      { type: 'array', 'x-kubernetes-list-type': 'map', items: { type: 'object' } },
      '@.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      'uniqueItems',
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      '@.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      'an unknown type',
      { type: 'text' },
      '@.type: Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      'a pattern that is none',
      { type: 'string', pattern: '(' },
      '@.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t',
    ],
  ])('may not have %s', (_, spec, cause) => {
    expect(causesOfSpec(spec)).toEqual([cause]);
  });

  it('may name types below anyOf for int-or-string', () => {
    const anyOf = [{ type: 'integer' }, { type: 'string' }];
    expect(causesOfSpec({ 'x-kubernetes-int-or-string': true, anyOf })).toEqual([]);
    expect(causesOfSpec({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf }, { pattern: '^[0-9]+%?$' }] })).toEqual([]);
  });

  it('causes one warning about formats that are not checked', () => {
    const list = { type: 'array', format: 'ipv4', items: { type: 'string' } };
    const crd = definition({ type: 'object', properties: { a: list, b: list, c: { type: 'string', format: 'ipv4' } } });
    expect(checkCustomResourceDefinition(completeCustomResourceDefinition(crd))).toEqual({
      causes: [],
      warnings: ['unrecognized format "ipv4"'],
    });
  });
});

describe('the rules of a schema', () => {
  const ruled = (schema: JsonObject, rule: JsonObject): JsonObject => ({ ...schema, 'x-kubernetes-validations': [rule] });
  const list = { type: 'array', items: { type: 'string' } };
  const shown = (rule: string): string =>
    `{"Rule":${JSON.stringify(rule)},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;

  it.each<readonly [string, string]>([
    ['self.nope == 1', "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope == 1\n | ....^"],
    ['nope == 1', "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope == 1\n | ^"],
    [
      'self.l.all(x, x.y)',
      "ERROR: <input>:1:16: type 'string' does not support field selection\n | self.l.all(x, x.y)\n | ...............^",
    ],
  ])('have to compile: %s', (rule, problem) => {
    const at = '@.x-kubernetes-validations[0].rule';
    expect(causesOfSpec(ruled({ type: 'object', properties: { l: list } }, { rule }))).toEqual([
      `${at}: Invalid value: ${shown(rule)}: compilation failed: ${problem}`,
    ]);
  });

  const advice =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';

  it('may not cost too much', () => {
    const rule = { rule: 'self.all(x, self.exists_one(y, x == y))' };
    const at = '@.x-kubernetes-validations[0].rule';
    expect(causesOfSpec(ruled(list, rule))).toEqual([
      `${at}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
      `${at}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
    ]);
    expect(causesOfSpec(ruled({ type: 'array', maxItems: 10, items: { type: 'string', maxLength: 20 } }, rule))).toEqual([]);
    expect(causesOfSpec(ruled(list, { rule: 'self == oldSelf' }))).toEqual([]);
  });

  it('may not make a text of a number in a message', () => {
    const object = { type: 'object', properties: { n: { type: 'integer', maximum: 10 } } };
    const [first] = causesOfSpec(ruled(object, { rule: 'self.n < 5', messageExpression: "'n is ' + string(self.n)" }));
    expect(first).toContain(
      '.messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x',
    );
  });
});

describe('the definitions of this project', () => {
  const directory = new URL('../../../../packages/ippool-api/crds/', import.meta.url);

  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));

  it.each(files)('%s is accepted without a warning', (file) => {
    const crd = parse(readFileSync(new URL(file, directory), 'utf8')) as JsonObject;
    expect(checkCustomResourceDefinition(completeCustomResourceDefinition(crd))).toEqual({ causes: [], warnings: [] });
  });
});
