import type { Cause } from '../../api-error.js';
import type { ApiObject, Json, JsonObject } from '../../api-object.js';
import { objectsOf, section, textOf } from '../../json-parts.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, int32, intOrString, list, pointer, struct, text } from '../go-type.js';
import { labelSelector } from '../object-meta.js';

const ports = list(struct('NetworkPolicyPort', { protocol: pointer(text), port: intOrString, endPort: pointer(int32) }));
const peers = list(
  struct('NetworkPolicyPeer', {
    podSelector: labelSelector,
    namespaceSelector: labelSelector,
    ipBlock: struct('IPBlock', { cidr: always(text), except: list(text) }),
  }),
);

/** There is no network here: a policy is stored, and blocks nothing. */
export const networkPolicy = builtInType({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  plural: 'networkpolicies',
  shortNames: ['netpol'],
  namespaced: true,
  hasGeneration: true,
  fields: {
    spec: always(
      struct('NetworkPolicySpec', {
        podSelector: always(labelSelector),
        ingress: list(struct('NetworkPolicyIngressRule', { ports, from: peers })),
        egress: list(struct('NetworkPolicyEgressRule', { ports, to: peers })),
        policyTypes: list(text),
      }),
    ),
  },
  columns: [
    column('Pod-Selector', 'string', (object) =>
      Object.entries(section(section(section(object, 'spec'), 'podSelector'), 'matchLabels'))
        .map(([key, value]) => `${key}=${textOf(value)}`)
        .join(','),
    ),
  ],
  strategy: { applyDefaults, validate },
});

function applyDefaults(object: ApiObject): ApiObject {
  const spec = section(object, 'spec');
  const withProtocol = (rule: JsonObject): JsonObject =>
    rule['ports'] === undefined
      ? rule
      : { ...rule, ports: objectsOf(rule['ports']).map((port) => ({ protocol: 'TCP', ...port })) };
  const rules = ['ingress', 'egress'].flatMap((field): [string, Json][] =>
    spec[field] === undefined ? [] : [[field, objectsOf(spec[field]).map(withProtocol)]],
  );
  const policyTypes = ['Ingress', ...(spec['egress'] === undefined ? [] : ['Egress'])];
  return withField(object, 'spec', { policyTypes, ...spec, ...Object.fromEntries(rules) });
}

function validate(object: ApiObject): readonly Cause[] {
  const spec = section(object, 'spec');
  return ['ingress', 'egress'].flatMap((field) =>
    objectsOf(spec[field]).flatMap((rule, index) =>
      objectsOf(rule['ports']).flatMap(({ port, protocol }, position): Cause[] => {
        const path = `spec.${field}[${index}].ports[${position}]`;
        const isPort = typeof port !== 'number' || (port >= 1 && port <= 65_535);
        return [
          ...(isPort ? [] : [invalid(`${path}.port`, `Invalid value: ${port}: must be between 1 and 65535, inclusive`)]),
          ...(['TCP', 'UDP', 'SCTP'].includes(textOf(protocol))
            ? []
            : [
                notSupported(
                  `${path}.protocol`,
                  `Unsupported value: ${JSON.stringify(protocol)}: supported values: "SCTP", "TCP", "UDP"`,
                ),
              ]),
        ];
      }),
    ),
  );
}

const invalid = (field: string, message: string): Cause => ({ reason: 'FieldValueInvalid', message, field });
const notSupported = (field: string, message: string): Cause => ({ reason: 'FieldValueNotSupported', message, field });
