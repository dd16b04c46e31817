import { z } from 'zod';
import type { CustomResource } from './custom-resource.js';
import { GROUP, VERSION } from './labels.js';

/** A field that is a number or a text, like quantities and percentages in Kubernetes. */
export const INT_OR_STRING = 'x-kubernetes-int-or-string';
/** In the metadata of an object's schema: fields that must be there when it is read, and that a client may leave out. */
export const LEFT_OUT = 'x-vmdhcp-left-out';

type Json = Record<string, unknown>;

/** The CustomResourceDefinition (apiextensions.k8s.io/v1) of a kind, from the schema that its type and validation come from. */
export function toCustomResourceDefinition(resource: CustomResource): Json {
  const { group = GROUP, version = VERSION, scope = 'Namespaced', kind, plural, singular, shortNames, columns } = resource;
  const { isStatusAbsent = false } = resource;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular, ...(shortNames.length > 0 && { shortNames }) },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(isStatusAbsent ? {} : { subresources: { status: {} } }),
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: toStructuralSchema(resource) },
        },
      ],
    },
  };
}

/** The schema in the form that the API server accepts: OpenAPI v3, structural, without bounds that only mean "a number". */
function toStructuralSchema({ schema, isSpecOptional = false }: CustomResource): Json {
  const converted = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      const node = jsonSchema as Json;
      if (node['additionalProperties'] === false) delete node['additionalProperties'];
      delete node['propertyNames'];
      allowLeftOut(node);
      if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum'];
      if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum'];
      if (node[INT_OR_STRING] === true) node['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
      else if (node['type'] === 'integer') node['format'] ??= 'int64';
    },
  }) as Json;
  delete converted['$schema'];
  return isSpecOptional ? converted : { ...converted, required: ['spec'] };
}

function allowLeftOut(node: Json): void {
  const leftOut = node[LEFT_OUT];
  delete node[LEFT_OUT];
  if (!Array.isArray(leftOut) || !Array.isArray(node['required'])) return;
  const required = node['required'].filter((name) => !leftOut.includes(name));
  if (required.length > 0) node['required'] = required;
  else delete node['required'];
}
