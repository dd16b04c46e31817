/** What a chart installs beside programs: mistakes that the real server refuses are refused here too. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../api-object.js';
import { TestCluster } from '../../contract/test-cluster.js';

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await TestCluster.start();
});
afterAll(() => cluster.stop());

const PATHS: Readonly<Record<string, string>> = {
  Service: '/api/v1/namespaces/ns/services',
  Deployment: '/apis/apps/v1/namespaces/ns/deployments',
  PodDisruptionBudget: '/apis/policy/v1/namespaces/ns/poddisruptionbudgets',
  NetworkPolicy: '/apis/networking.k8s.io/v1/namespaces/ns/networkpolicies',
};
const APIS: Readonly<Record<string, string>> = {
  Service: 'v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  NetworkPolicy: 'networking.k8s.io/v1',
};

async function create(kind: string, spec: JsonObject) {
  const body = { apiVersion: APIS[kind] ?? '', kind, metadata: { generateName: 'x-' }, spec };
  const { status, body: answer } = await cluster.post(`${PATHS[kind]}?fieldValidation=Strict`, body);
  return { status, body: answer };
}

const container = { name: 'a', image: 'a:1' };
const deployment = (pod: JsonObject): JsonObject => ({
  selector: { matchLabels: { a: 'b' } },
  template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container], ...pod } },
});
const withContainer = (more: JsonObject) => deployment({ containers: [{ ...container, ...more }] });
const spread = (more: JsonObject) =>
  deployment({ topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', ...more }] });

describe('what is installed', () => {
  it.each<[string, string, JsonObject, string]>([
    ['a Service without ports', 'Service', {}, 'spec.ports: Required value'],
    ['ports without names', 'Service', { ports: [{ port: 1 }, { port: 2 }] }, 'spec.ports[0].name: Required value'],
    ['a port that is none', 'Service', { ports: [{ port: 0 }] }, 'spec.ports[0].port: Invalid value: 0'],
    ['a port of a container', 'Deployment', withContainer({ ports: [{ containerPort: 70_000 }] }), 'ports[0].containerPort'],
    ['its name', 'Deployment', withContainer({ ports: [{ containerPort: 1, name: 'A b' }] }), 'ports[0].name: Invalid value'],
    ['a variable without a name', 'Deployment', withContainer({ env: [{ value: 'x' }] }), 'env[0].name: Required value'],
    ['a mount of no volume', 'Deployment', withContainer({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }), 'Not found: "v"'],
    ['a spread without a key', 'Deployment', spread({ topologyKey: '' }), 'topologyKey: Required value'],
    ['a spread of another kind', 'Deployment', spread({ whenUnsatisfiable: 'x' }), 'Unsupported value: "x"'],
    ['an unknown field of a pod', 'Deployment', deployment({ securityContext: { user: 1 } }), 'unknown field'],
    ['a wrong type of a field', 'Deployment', deployment({ securityContext: { runAsUser: '1' } }), 'cannot unmarshal string'],
    ['both bounds of a budget', 'PodDisruptionBudget', { minAvailable: 1, maxUnavailable: 1 }, 'cannot be both set'],
    ['a bound that is none', 'PodDisruptionBudget', { maxUnavailable: 'one' }, 'spec.maxUnavailable: Invalid value: "one"'],
    [
      'a port of a policy',
      'NetworkPolicy',
      { egress: [{ ports: [{ port: 0 }] }] },
      'spec.egress[0].ports[0].port: Invalid value: 0',
    ],
    ['a protocol of a policy', 'NetworkPolicy', { ingress: [{ ports: [{ protocol: 'x' }] }] }, 'Unsupported value: "x"'],
  ])('%s is refused', async (_, kind, spec, message) => {
    const { status, body } = await create(kind, spec);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body['message']).toContain(message);
  });

  it.each<[string, string, JsonObject]>([
    ['a Service without an address', 'Service', { clusterIP: 'None' }],
    ['a Deployment', 'Deployment', spread({ labelSelector: { matchLabels: { a: 'b' } } })],
    ['a budget', 'PodDisruptionBudget', { maxUnavailable: '50%', selector: { matchLabels: { a: 'b' } } }],
    [
      'a policy',
      'NetworkPolicy',
      { podSelector: {}, policyTypes: ['Egress'], egress: [{ ports: [{ protocol: 'UDP', port: 53 }] }] },
    ],
  ])('%s is accepted', async (_, kind, spec) => {
    expect((await create(kind, spec)).body).toMatchObject({ kind });
  });
});
