import type { Cause } from '../../api-error.js';
import type { ApiObject } from '../../api-object.js';
import { objectsOf, section, wordOf } from '../../json-parts.js';
import { builtInType, column, withField } from '../built-in-type.js';
import { always, anything, flag, int32, intOrString, list, map, pointer, struct, text } from '../go-type.js';

let lastClusterIp = 1;

/** Ports that are missing, out of range, or without the name that several need. */
function servicePortCauses(object: ApiObject): readonly Cause[] {
  const spec = section(object, 'spec');
  const ports = objectsOf(spec['ports']);
  const needsNone = spec['type'] === 'ExternalName' || spec['clusterIP'] === 'None';
  if (ports.length === 0 && !needsNone) return [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.ports' }];
  return ports.flatMap(({ name, port }, index): Cause[] => {
    const field = `spec.ports[${index}]`;
    const isPort = typeof port === 'number' && port >= 1 && port <= 65_535;
    const message = `Invalid value: ${JSON.stringify(port)}: must be between 1 and 65535, inclusive`;
    return [
      ...(ports.length > 1 && (name ?? '') === ''
        ? [{ reason: 'FieldValueRequired', message: 'Required value', field: `${field}.name` }]
        : []),
      ...(isPort ? [] : [{ reason: 'FieldValueInvalid', message, field: `${field}.port` }]),
    ];
  });
}

/** Cluster addresses are assigned in order, because nothing routes them. */
function withServiceDefaults(object: ApiObject): ApiObject {
  const spec = section(object, 'spec');
  const ports = objectsOf(spec['ports']).map((port) => ({ protocol: 'TCP', targetPort: port['port'] ?? 0, ...port }));
  return withField(object, 'spec', {
    sessionAffinity: 'None',
    type: 'ClusterIP',
    internalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    ...spec,
    ...(ports.length === 0 ? {} : { ports }),
  });
}

function withClusterIp(object: ApiObject): ApiObject {
  const spec = section(object, 'spec');
  if (spec['type'] === 'ExternalName') return withField(object, 'status', { loadBalancer: {} });
  lastClusterIp += 1;
  const given = `10.96.${(lastClusterIp >> 8) & 255}.${lastClusterIp & 255}`;
  const address = typeof spec['clusterIP'] === 'string' && spec['clusterIP'] !== '' ? spec['clusterIP'] : given;
  return withField(withField(object, 'spec', { ...spec, clusterIP: address, clusterIPs: [address] }), 'status', {
    loadBalancer: {},
  });
}

export const service = builtInType({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  hasStatus: true,
  nameRule: 'dns-1035-label',
  fields: {
    spec: always(
      struct('ServiceSpec', {
        ports: list(
          struct('ServicePort', {
            name: text,
            protocol: text,
            appProtocol: pointer(text),
            port: always(int32),
            targetPort: intOrString,
            nodePort: int32,
          }),
        ),
        selector: map(text),
        clusterIP: text,
        clusterIPs: list(text),
        type: text,
        externalIPs: list(text),
        sessionAffinity: text,
        loadBalancerIP: text,
        loadBalancerSourceRanges: list(text),
        externalName: text,
        externalTrafficPolicy: text,
        healthCheckNodePort: int32,
        publishNotReadyAddresses: flag,
        sessionAffinityConfig: anything,
        ipFamilies: list(text),
        ipFamilyPolicy: pointer(text),
        allocateLoadBalancerNodePorts: pointer(flag),
        loadBalancerClass: pointer(text),
        internalTrafficPolicy: pointer(text),
        trafficDistribution: pointer(text),
      }),
    ),
    status: always(
      struct('ServiceStatus', {
        loadBalancer: always(struct('LoadBalancerStatus', { ingress: list(anything) })),
        conditions: list(anything),
      }),
    ),
  },
  columns: [
    column('Type', 'string', (object) => section(object, 'spec')['type'] ?? ''),
    column('Cluster-IP', 'string', (object) => section(object, 'spec')['clusterIP'] ?? '<none>'),
    column('External-IP', 'string', () => '<none>'),
    column('Port(s)', 'string', (object) =>
      objectsOf(section(object, 'spec')['ports'])
        .map((port) => `${wordOf(port['port'])}/${wordOf(port['protocol'])}`)
        .join(','),
    ),
  ],
  strategy: {
    applyDefaults: withServiceDefaults,
    validate: servicePortCauses,
    prepareForCreate: withClusterIp,
    prepareForUpdate: (object, old) => {
      const { clusterIP, clusterIPs } = section(old, 'spec');
      const kept = { ...(clusterIP === undefined ? {} : { clusterIP }), ...(clusterIPs === undefined ? {} : { clusterIPs }) };
      return withField(withField(object, 'spec', { ...section(object, 'spec'), ...kept }), 'status', old['status']);
    },
  },
});
