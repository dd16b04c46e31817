import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from './kube-simulator.js';

let simulator: KubeSimulator;

beforeEach(async () => {
  simulator = await startKubeSimulator({ tls: false, tokens: { 'of-a-program': { username: 'program', groups: [] } } });
});

afterEach(() => simulator.stop());

const send = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${simulator.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: text === '' ? undefined : JSON.parse(text),
  };
};

const configMaps = '/api/v1/namespaces/default/configmaps';

/** Opens a watch and returns when it ended. */
const watch = async (query = '') => {
  const response = await fetch(`${simulator.url}${configMaps}?watch=1${query}`, {
    headers: { authorization: `Bearer ${simulator.adminToken}` },
  });
  return {
    status: response.status,
    ended: response.text().then(
      (text) => text,
      () => 'broken',
    ),
  };
};

describe('a client that meets a fault', () => {
  it('hits as many requests as it is meant for, and those only', async () => {
    simulator.faults.inject({
      requests: { verb: 'list', resource: 'configmaps' },
      effect: { kind: 'answer', status: 429 },
      times: 2,
    });
    expect((await send('GET', '/api/v1/namespaces/default/secrets')).status).toBe(200);
    for (let request = 1; request <= 2; request += 1) {
      expect(await send('GET', configMaps)).toMatchObject({ status: 429, retryAfter: '1', body: { reason: 'TooManyRequests' } });
    }
    expect((await send('GET', configMaps)).status).toBe(200);
  });

  it.each([
    ['before', 404],
    ['after', 200],
  ] as const)('closes the connection %s a write takes effect', async (when, found) => {
    simulator.faults.inject({ requests: { verb: 'create' }, effect: { kind: 'close', when } });
    await expect(send('POST', configMaps, { metadata: { name: 'a' } })).rejects.toThrow('fetch failed');
    expect((await send('GET', `${configMaps}/a`)).status).toBe(found);
  });

  it('drops watches', async () => {
    const open = await watch();
    expect(open.status).toBe(200);
    expect(simulator.disturbWatches('break', { resource: 'secrets' })).toBe(0);
    expect(simulator.disturbWatches('break', { resource: 'configmaps' })).toBe(1);
    await open.ended;
  });

  it('sees its watch end in good order', async () => {
    const open = await watch();
    simulator.disturbWatches('end');
    expect(await open.ended).not.toBe('broken');
  });

  it('sees its watch expire', async () => {
    const open = await watch();
    simulator.disturbWatches('expire');
    expect(await open.ended).toContain('"type":"ERROR","object":{"kind":"Status"');
  });

  it('sees nothing after its watch has ended', async () => {
    const open = await watch();
    simulator.disturbWatches('end');
    simulator.disturbWatches('expire');
    expect(await open.ended).not.toContain('ERROR');
  });

  it('forgets what happened before', async () => {
    const { body } = await send('GET', configMaps);
    await send('POST', configMaps, { metadata: { name: 'a' } });
    simulator.compact();
    const late = await watch(`&resourceVersion=${body.metadata.resourceVersion}`);
    expect(await late.ended).toContain('"code":410');
  });

  it('restarts the server with its data', async () => {
    await send('POST', configMaps, { metadata: { name: 'a' } });
    const open = await watch();
    await simulator.restart();
    expect(await open.ended).toBe('broken');
    expect((await send('GET', `${configMaps}/a`)).status, 'of an administrator').toBe(200);
  });

  it('answers the first requests after a restart as a server that loads its roles and its storage, administrators excepted', async () => {
    await send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'all' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'program' }],
    });
    await simulator.restart();
    const answers: string[] = [];
    for (let request = 0; request < 11; request += 1) {
      const response = await fetch(`${simulator.url}${configMaps}`, { headers: { authorization: 'Bearer of-a-program' } });
      const { message = '' } = (await response.json()) as { readonly message?: string };
      answers.push(`${response.status} ${message}`);
    }
    const refused =
      '403 configmaps is forbidden: User "program" cannot list resource "configmaps" in API group "" in the namespace "default"';
    expect(answers.filter((_, index) => index % 2 === 0)).toEqual([
      refused,
      '429 storage is (re)initializing',
      expect.stringMatching(/^500 Internal error/),
      expect.stringMatching(/^503 the server is currently unable/),
      expect.stringMatching(/^504 Timeout/),
      '200 ',
    ]);
  });
});
