/** The defaults of a PodSpec in the real server. Source: k8s.io/kubernetes/pkg/apis/core/v1/defaults.go. */

import type { Json, JsonObject } from '../../api-object.js';
import { objectsOf, textOf, wordOf } from '../../json-parts.js';
import { isObject } from '../go-type.js';

const mapped = (object: JsonObject, field: string, change: (item: JsonObject) => JsonObject): JsonObject =>
  Array.isArray(object[field]) ? { ...object, [field]: objectsOf(object[field]).map(change) } : object;

export function defaultPodSpec(spec: JsonObject): JsonObject {
  const account = spec['serviceAccountName'] ?? spec['serviceAccount'];
  const filled: JsonObject = {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
    ...spec,
    ...(account === undefined ? {} : { serviceAccountName: account, serviceAccount: account }),
  };
  const withContainers = mapped(mapped(filled, 'containers', defaultContainer), 'initContainers', defaultContainer);
  return mapped(withContainers, 'volumes', defaultVolume);
}

function defaultContainer(container: JsonObject): JsonObject {
  const filled: JsonObject = {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: pullPolicyOf(container['image']),
    ...container,
  };
  const withPorts = mapped(filled, 'ports', (port) => ({ protocol: 'TCP', ...port }));
  const withEnv = mapped(withPorts, 'env', defaultEnv);
  return ['livenessProbe', 'readinessProbe', 'startupProbe'].reduce(defaultProbe, withResources(withEnv));
}

/** `latest`, or no tag at all, is pulled always. */
function pullPolicyOf(image: Json | undefined): string {
  const reference = textOf(image);
  const tag = /:([^/:@]+)(?:@|$)/.exec(reference)?.[1];
  if (reference.includes('@') && tag === undefined) return 'IfNotPresent';
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultEnv(variable: JsonObject): JsonObject {
  const from = variable['valueFrom'];
  if (!isObject(from) || !isObject(from['fieldRef'])) return variable;
  return { ...variable, valueFrom: { ...from, fieldRef: { apiVersion: 'v1', ...from['fieldRef'] } } };
}

function defaultProbe(container: JsonObject, field: string): JsonObject {
  const probe = container[field];
  if (!isObject(probe)) return container;
  const get = probe['httpGet'];
  const httpGet = isObject(get) ? { httpGet: { path: '/', scheme: 'HTTP', ...get } } : {};
  const numbers = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  return { ...container, [field]: { ...numbers, ...probe, ...httpGet } };
}

/** Quantities are stored in their canonical form, and limits become requests. */
function withResources(container: JsonObject): JsonObject {
  const resources = container['resources'];
  if (!isObject(resources)) return container;
  const limits = canonicalQuantities(resources['limits']);
  const requests = canonicalQuantities(resources['requests']);
  const all = limits === undefined ? requests : { ...limits, ...requests };
  return {
    ...container,
    resources: {
      ...resources,
      ...(limits === undefined ? {} : { limits }),
      ...(all === undefined ? {} : { requests: all }),
    },
  };
}

function canonicalQuantities(quantities: Json | undefined): JsonObject | undefined {
  if (!isObject(quantities)) return undefined;
  return Object.fromEntries(Object.entries(quantities).map(([name, value]) => [name, canonicalQuantity(wordOf(value))]));
}

/** `0.1` is `100m`, `1000m` is `1`. Binary suffixes stay. */
export function canonicalQuantity(value: string): string {
  const match = /^([+-]?\d*\.?\d+)(m?)$/.exec(value);
  if (match === null) return value;
  const milli = Math.round(Number(match[1]) * (match[2] === 'm' ? 1 : 1000));
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}

const modeSources = ['secret', 'configMap', 'downwardAPI', 'projected'];

function defaultVolume(volume: JsonObject): JsonObject {
  const source = Object.keys(volume).find((key) => key !== 'name');
  if (source === undefined) return { ...volume, emptyDir: {} };
  const content = volume[source];
  if (!isObject(content)) return volume;
  if (source === 'hostPath') return { ...volume, hostPath: { type: '', ...content } };
  if (!modeSources.includes(source)) return volume;
  return { ...volume, [source]: defaultItems({ defaultMode: 420, ...content }) };
}

function defaultItems(content: JsonObject): JsonObject {
  const reference = (item: JsonObject): JsonObject =>
    isObject(item['fieldRef']) ? { ...item, fieldRef: { apiVersion: 'v1', ...item['fieldRef'] } } : item;
  const ownItems = mapped(content, 'items', reference);
  return mapped(ownItems, 'sources', (item) => {
    const api = item['downwardAPI'];
    const token = item['serviceAccountToken'];
    return {
      ...item,
      ...(isObject(api) ? { downwardAPI: mapped(api, 'items', reference) } : {}),
      ...(isObject(token) ? { serviceAccountToken: { expirationSeconds: 3600, ...token } } : {}),
    };
  });
}
