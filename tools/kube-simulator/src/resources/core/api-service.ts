import type { Cause } from '../../api-error.js';
import type { ApiObject, Json, JsonObject } from '../../api-object.js';
import { numberOf, objectsOf, section, textOf } from '../../json-parts.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, bytes, flag, int32, list, pointer, struct, text, time } from '../go-type.js';

/** Names another server for a group and version. */
export const apiService = builtInType({
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  categories: ['api-extensions'],
  namespaced: false,
  hasStatus: true,
  nameRule: 'path-segment',
  fields: {
    spec: always(
      struct('APIServiceSpec', {
        service: struct('ServiceReference', { namespace: text, name: text, port: pointer(int32) }),
        group: text,
        version: text,
        insecureSkipTLSVerify: flag,
        caBundle: bytes,
        groupPriorityMinimum: always(int32),
        versionPriority: always(int32),
      }),
    ),
    status: always(
      struct('APIServiceStatus', {
        conditions: list(
          struct('APIServiceCondition', {
            type: always(text),
            status: always(text),
            lastTransitionTime: always(time),
            reason: text,
            message: text,
          }),
        ),
      }),
    ),
  },
  columns: [column('Service', 'string', serviceCell), column('Available', 'string', availableCell)],
  strategy: {
    applyDefaults: withDefaultPort,
    validate: (object, _old, subresource) => (subresource === 'status' ? [] : causesOf(object)),
  },
});

function serviceCell(object: ApiObject): string {
  const service = section(section(object, 'spec'), 'service');
  return service['name'] === undefined ? 'Local' : `${textOf(service['namespace'])}/${textOf(service['name'])}`;
}

function availableCell(object: ApiObject): string {
  const available = objectsOf(section(object, 'status')['conditions']).find((condition) => condition['type'] === 'Available');
  if (available === undefined) return 'Unknown';
  const status = textOf(available['status']);
  return status === 'True' ? status : `${status} (${textOf(available['reason'])})`;
}

function withDefaultPort(object: ApiObject): ApiObject {
  const spec = section(object, 'spec');
  if (spec['service'] === undefined) return object;
  return withField(object, 'spec', { ...spec, service: { port: 443, ...section(spec, 'service') } });
}

/** Source: k8s.io/kube-aggregator/pkg/apis/apiregistration/validation ValidateAPIService. */
function causesOf(object: ApiObject): readonly Cause[] {
  const spec = section(object, 'spec');
  return [
    ...nameCauses(object.metadata.name ?? '', spec),
    ...priorityCauses(spec, 'groupPriorityMinimum', 20_000),
    ...priorityCauses(spec, 'versionPriority', 1000),
    ...(spec['service'] === undefined ? localCauses(spec) : serviceCauses(spec)),
  ];
}

function nameCauses(name: string, spec: JsonObject): readonly Cause[] {
  const wanted = `${textOf(spec['version'])}.${textOf(spec['group'])}`;
  const rule = `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`;
  return name === wanted ? [] : [invalidValue('metadata.name', name, rule)];
}

function priorityCauses(spec: JsonObject, field: string, most: number): readonly Cause[] {
  const priority = numberOf(spec[field]);
  if (priority > 0 && priority <= most) return [];
  return [invalidValue(`spec.${field}`, priority, `must be positive and less than ${most}`)];
}

function localCauses(spec: JsonObject): readonly Cause[] {
  const size = `${Buffer.from(textOf(spec['caBundle']), 'base64').length} bytes`;
  return [
    ...(textOf(spec['caBundle']) === ''
      ? []
      : [invalidValue('spec.caBundle', size, 'local APIServices may not have a caBundle')]),
    ...(spec['insecureSkipTLSVerify'] === true
      ? [invalidValue('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify')]
      : []),
  ];
}

function serviceCauses(spec: JsonObject): readonly Cause[] {
  const service = section(spec, 'service');
  const missing = ['namespace', 'name'].filter((field) => textOf(service[field]) === '');
  const isContradictory = spec['insecureSkipTLSVerify'] === true && textOf(spec['caBundle']) !== '';
  return [
    ...missing.map((field) => ({
      reason: 'FieldValueRequired',
      message: 'Required value',
      field: `spec.service.${field}`,
    })),
    ...(isContradictory ? [invalidValue('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present')] : []),
  ];
}

function invalidValue(field: string, value: Json, rule: string): Cause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${rule}`, field };
}
