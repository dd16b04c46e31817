import { AGENT_LABEL, AGENT_LABEL_VALUE, AGENT_REPORT_ANNOTATION, formatAgentReport } from '@vmdhcp/ippool-api/agent';
import { type ApiResource, type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { findLeaders, findLeadersOf } from './find-leaders.js';

const NOW = '2026-01-01T00:00:00.000000Z';

const ipPool = (key: string, agents: string | undefined): KubernetesObject => {
  const [namespace = '', name = ''] = key.split('/', 2);
  const status = agents === undefined ? {} : { agentDeploymentRef: { namespace: agents, name: 'group' } };
  return { apiVersion: 'network.harvesterhci.io/v1alpha1', kind: 'IPPool', metadata: { namespace, name }, status };
};

function lease(namespace: string, pod: string, ...pools: readonly string[]): KubernetesObject {
  const report = new Map(pools.map((pool) => [pool, { serving: true }]));
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace,
      name: `group-of-${pod}`,
      labels: { [AGENT_LABEL]: AGENT_LABEL_VALUE },
      annotations: { [AGENT_REPORT_ANNOTATION]: formatAgentReport(report) },
    },
    spec: { holderIdentity: `${pod}_1`, leaseDurationSeconds: 10, renewTime: NOW },
  };
}

const POOLS = [ipPool('default/one', 'agents'), ipPool('default/unserved', undefined), ipPool('a-tenant/own', undefined)];
const LEASES = [
  lease('agents', 'agent-1', 'default/one', 'default/two'),
  lease('a-tenant', 'trap', 'default/one', 'a-tenant/own'),
];

/** What was read; only the allowed requests succeed. */
function cluster(isAllowed: (verb: string, plural: string, namespace: string) => boolean = () => true) {
  const asked: string[] = [];
  const refusal = (verb: 'get' | 'list', { group, plural }: ApiResource, namespace: string) => {
    asked.push([verb, plural, namespace].filter((word) => word !== '').join(' '));
    if (isAllowed(verb, plural, namespace)) return undefined;
    return { kind: 'refused', right: { verb, group, resource: plural, namespace } } as const;
  };
  const objectsOf = (plural: string): readonly KubernetesObject[] => (plural === 'ippools' ? POOLS : LEASES);
  const reader = {
    nowMs: Date.parse(NOW),
    get: async (resource: ApiResource, key: string) => {
      const object = objectsOf(resource.plural).find((one) => keyOf(one) === key);
      const found = object === undefined ? ({ kind: 'missing' } as const) : ({ kind: 'found', object } as const);
      return refusal('get', resource, key) ?? found;
    },
    list: async (resource: ApiResource) => {
      const { plural, namespace = '' } = resource;
      const objects = objectsOf(plural).filter(({ metadata }) => namespace === '' || metadata.namespace === namespace);
      return refusal('list', resource, namespace) ?? ({ kind: 'found', objects } as const);
    },
  };
  return { reader, asked };
}

it('leaders of one pool: reads only that IPPool, and the Leases of the namespace that its status names', async () => {
  const { reader, asked } = cluster();
  const leaders = await findLeadersOf(reader, 'default/one');
  expect(leaders.map(({ namespace, pod }) => [namespace, pod])).toEqual([['agents', 'agent-1']]);
  expect(asked).toEqual(['get ippools default/one', 'list leases agents']);
});

it.each(['default/unserved', 'a-tenant/own'])('a pool whose status names no agents has no leaders: %s', async (pool) => {
  const { reader, asked } = cluster();
  expect(await findLeadersOf(reader, pool)).toEqual([]);
  expect(asked).toEqual([`get ippools ${pool}`]);
});

it.each([
  ['no IPPool', 'default/none', () => true, 'there is no IPPool default/none: kubectl vmdhcp pools -A'],
  ['no right to it', 'default/one', (verb: string) => verb !== 'get', /cannot get ippools.*: ask for the verb get on it$/],
  ['no right to Leases', 'default/one', (verb: string) => verb !== 'list', /cannot list leases.*: ask for the verb list on it$/],
])('names the missing object or right: %s', async (_what, pool, isAllowed, message) => {
  await expect(findLeadersOf(cluster(isAllowed).reader, pool)).rejects.toThrow(message);
});

it('leaders of all pools: without the right to list IPPools, the namespace of the agents may be given instead', async () => {
  const { reader } = cluster((_verb, plural) => plural !== 'ippools');
  await expect(findLeaders(reader, undefined)).rejects.toThrow(
    /cannot list ippools.*: ask for the verb list on it, or give --namespace with the namespace of the agents$/,
  );
  expect((await findLeaders(reader, 'agents')).map(({ pod }) => pod)).toEqual(['agent-1']);
});

it('leaders of all pools: ignores namespaces that no IPPool names', async () => {
  expect((await findLeaders(cluster().reader, undefined)).map(({ pod, pools }) => [pod, pools])).toEqual([
    ['agent-1', ['default/one']],
  ]);
});
