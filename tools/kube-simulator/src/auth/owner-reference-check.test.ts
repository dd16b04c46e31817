import { afterAll, beforeAll, expect, it } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

let simulator: KubeSimulator;
const MAPS = '/api/v1/namespaces/default/configmaps';

beforeAll(async () => {
  simulator = await startKubeSimulator({
    tls: false,
    ownerReferencePermissions: true,
    tokens: { limited: { username: 'limited', groups: ['system:authenticated'] } },
  });
  await allow(['create', 'patch'], 'configmaps', 'writers');
});

afterAll(() => simulator.stop());

async function send(
  method: string,
  path: string,
  token: string,
  body?: object,
): Promise<{ code: number; message?: string; metadata?: { uid: string } }> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { 'content-type': type, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { code: response.status, ...((await response.json()) as object) };
}

async function allow(verbs: readonly string[], resource: string, name: string): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const metadata = { name };
  await send('POST', `${rbac}/clusterroles`, simulator.adminToken, {
    metadata,
    rules: [{ apiGroups: [''], resources: [resource], verbs }],
  });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'limited' }];
  await send('POST', `${rbac}/clusterrolebindings`, simulator.adminToken, { metadata, roleRef, subjects });
}

it('story: an object blocks the deletion of its owner where its author may set the finalizers of the owner', async () => {
  const { metadata } = await send('POST', MAPS, simulator.adminToken, { metadata: { name: 'owner' } });
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata?.uid };
  const owned = (name: string, more: object = {}) => ({ metadata: { name, ownerReferences: [{ ...owner, ...more }] } });
  expect(await send('POST', MAPS, 'limited', owned('free'))).toMatchObject({ code: 201 });
  const blocking = { blockOwnerDeletion: true };
  expect(await send('POST', MAPS, 'limited', owned('blocked', blocking))).toMatchObject({
    code: 403,
    message:
      'configmaps "blocked" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can\'t set finalizers on: , <nil>',
  });
  expect(await send('POST', MAPS, 'limited', owned('blocked', { ...blocking, kind: 'Nothing' }))).toMatchObject({
    code: 403,
    message: expect.stringContaining('cannot find RESTMapping for APIVersion v1 Kind Nothing') as string,
  });
  await allow(['update'], 'configmaps/finalizers', 'finalizers');
  expect(await send('POST', MAPS, 'limited', owned('blocked', blocking))).toMatchObject({ code: 201 });
  expect(simulator.audit.requests).toContainEqual(
    expect.objectContaining({
      user: 'limited',
      verb: 'update',
      resource: 'configmaps',
      subresource: 'finalizers',
      allowed: true,
    }),
  );

  const labels = { metadata: { labels: { a: 'b' } } };
  expect(await send('PATCH', `${MAPS}/blocked`, 'limited', labels)).toMatchObject({ code: 200 });
  const without = { metadata: { ownerReferences: [] } };
  expect(await send('PATCH', `${MAPS}/blocked`, 'limited', without)).toMatchObject({
    code: 403,
    message: 'configmaps "blocked" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>',
  });
  await allow(['delete'], 'configmaps', 'deleters');
  expect(await send('PATCH', `${MAPS}/blocked`, 'limited', without)).toMatchObject({ code: 200 });
});
