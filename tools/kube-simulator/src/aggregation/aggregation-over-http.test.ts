import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { createServerCertificate, type ServerCertificate } from '../http/certificates.js';
import { section, textOf } from '../json-parts.js';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

const group = 'gadgets.example.com';
const base = `/apis/${group}/v1`;
const run = promisify(execFile);
const kubectlProgram = 'kubectl';
const hasKubectl = spawnSync(kubectlProgram, ['version', '--client']).status === 0;

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Common name of the client's certificate, which the server has verified. */
  readonly client: string;
}

let simulator: KubeSimulator;
let certificate: ServerCertificate;
let backend: Server;
let received: Received[] = [];

beforeAll(async () => {
  certificate = await createServerCertificate(['gadgets.tools.svc']);
});

beforeEach(async () => {
  received = [];
  simulator = await startKubeSimulator({
    tokens: {
      limited: { username: 'limited', groups: ['system:authenticated'], extra: { 'example.com/Team': ['blue'] } },
      other: { username: 'other', groups: ['system:authenticated'] },
    },
  });
  backend = await startBackend();
  const { client } = simulator;
  const rbac = { group: 'rbac.authorization.k8s.io' };
  await client.create({ resource: 'namespaces' }, { metadata: { name: 'tools' } });
  await client.create(
    { ...rbac, resource: 'clusterroles' },
    { metadata: { name: 'polisher' }, rules: [{ apiGroups: [group], resources: ['gadgets/polish'], verbs: ['update'] }] },
  );
  await client.create(
    { ...rbac, resource: 'clusterrolebindings' },
    {
      metadata: { name: 'polisher' },
      roleRef: { kind: 'ClusterRole', name: 'polisher' },
      subjects: [{ kind: 'User', name: 'limited' }],
    },
  );
});

afterEach(async () => {
  backend.closeAllConnections();
  backend.close();
  await simulator.stop();
});

/** Reads who may hand on users where every aggregated server does: in kube-system. */
const startBackend = async (): Promise<Server> => {
  const name = 'extension-apiserver-authentication';
  const config = simulator.client.get({ resource: 'configmaps', namespace: 'kube-system', name });
  const ca = textOf(section(config, 'data')['requestheader-client-ca-file']);
  const tls = { key: certificate.key, cert: certificate.certificate, ca, requestCert: true, rejectUnauthorized: false };
  const server = createServer(tls, (incoming, response) => {
    void text(incoming).then((body) => {
      const { method = '', url: path = '', headers } = incoming;
      const socket = incoming.socket as TLSSocket;
      const client = socket.authorized ? String(socket.getPeerCertificate().subject.CN) : 'unknown';
      // The aggregator asks for discovery whenever it likes.
      if (headers['x-remote-user'] !== 'system:kube-aggregator') received.push({ method, path, headers, body, client });
      if (path.includes('watch=true')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"type":"ADDED"}\n');
      } else if (path === base) {
        const resources = [{ name: 'gadgets/polish', singularName: '', namespaced: true, kind: 'Gadget', verbs: ['update'] }];
        response.end(JSON.stringify({ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources }));
      } else if (path.includes('/polish')) response.writeHead(202, { 'x-polished': 'yes' }).end();
      else response.writeHead(409, { 'content-type': 'application/json' }).end('{"kind":"Status","code":409}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const open = async (path: string, { method = 'GET', token = simulator.adminToken, headers = {}, body = '' } = {}) => {
  const all = { authorization: `Bearer ${token}`, ...headers };
  const sent = request(`${simulator.url}${path}`, { method, headers: all, ca: simulator.caCertificate });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
};

const send = async (...call: Parameters<typeof open>) => {
  const response = await open(...call);
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
};

const register = (over: JsonObject = {}) =>
  simulator.client.create(
    { group: 'apiregistration.k8s.io', resource: 'apiservices' },
    {
      metadata: { name: `v1.${group}` },
      spec: {
        group,
        version: 'v1',
        groupPriorityMinimum: 1000,
        versionPriority: 15,
        caBundle: Buffer.from(certificate.authority).toString('base64'),
        service: { namespace: 'tools', name: 'gadgets' },
        ...over,
      },
    },
  );

const condition = () => {
  const object = simulator.client.get({ group: 'apiregistration.k8s.io', resource: 'apiservices', name: `v1.${group}` });
  const status = object?.['status'] as { readonly conditions?: readonly { reason: string; message: string; status: string }[] };
  return status?.conditions?.[0];
};

const conditionIs = (reason: string) => vi.waitFor(() => expect(condition()?.reason).toBe(reason), { timeout: 10_000 });

/** Registered, with a Service whose server answers. */
const available = async () => {
  const service = { metadata: { name: 'gadgets' }, spec: { ports: [{ name: 'https', port: 443 }] } };
  await simulator.client.create({ resource: 'services', namespace: 'tools' }, service);
  simulator.serveService('tools', 'gadgets', { host: '127.0.0.1', port: port() });
  await register();
  await conditionIs('Passed');
};

const port = () => (backend.address() as AddressInfo).port;

it('an aggregated API becomes available when its Service, the port, an endpoint and its server are there, and says which is missing', async () => {
  await register();
  await conditionIs('ServiceNotFound');
  expect(condition()?.message).toBe('service/gadgets in "tools" is not present');
  expect(await send(`${base}/namespaces/tools/gadgets`)).toMatchObject({ status: 503, text: 'service unavailable\n' });

  const service = { metadata: { name: 'gadgets' }, spec: { ports: [{ name: 'web', port: 80 }] } };
  await simulator.client.create({ resource: 'services', namespace: 'tools' }, service);
  await conditionIs('ServicePortError');
  expect(condition()?.message).toBe('service/gadgets in "tools" is not listening on port 443');

  const path = { resource: 'services', namespace: 'tools', name: 'gadgets' };
  const body = { spec: { ports: [{ name: 'https', port: 443 }] } };
  await simulator.client.patch(path, { type: 'merge', body });
  await conditionIs('MissingEndpoints');
  expect(condition()?.message).toBe('endpointslices for service/gadgets in "tools" have no addresses with port name "https"');

  const { port: closed } = await freePort();
  simulator.serveService('tools', 'gadgets', { host: '127.0.0.1', port: closed });
  await conditionIs('FailedDiscoveryCheck');
  const url = `https://127.0.0.1:${closed}${base}`;
  expect(condition()?.message).toBe(
    `failing or missing response from ${url}: Get "${url}": dial tcp 127.0.0.1:${closed}: connect: connection refused`,
  );

  simulator.serveService('tools', 'gadgets', { host: '127.0.0.1', port: port() });
  await conditionIs('Passed');
  expect(condition()).toMatchObject({ status: 'True', message: 'all checks passed' });
});

describe('a request for an aggregated API', () => {
  beforeEach(available);

  const polish = `${base}/namespaces/tools/gadgets/one/polish`;

  it('goes to its server with the name of the user, and without the credentials', async () => {
    received = [];
    const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters', 'content-type': 'application/json' };
    const answer = await send(`${polish}?dryRun=All`, { method: 'PUT', token: 'limited', headers, body: '{"with":"wax"}' });
    expect(answer).toMatchObject({ status: 202, text: '', headers: { 'x-polished': 'yes' } });
    expect(received).toMatchObject([
      {
        method: 'PUT',
        path: `${polish}?dryRun=All`,
        body: '{"with":"wax"}',
        client: 'front-proxy-client',
        headers: {
          'x-remote-user': 'limited',
          'x-remote-group': 'system:authenticated',
          'x-remote-extra-example.com%2fteam': 'blue',
          'content-type': 'application/json',
        },
      },
    ]);
    expect(received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is refused by this server where RBAC does not allow it, and never arrives', async () => {
    received = [];
    const answer = await send(polish, { method: 'PUT', token: 'other' });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.text)).toMatchObject({
      message: `gadgets.${group} "one" is forbidden: User "other" cannot update resource "gadgets/polish" in API group "${group}" in the namespace "tools"`,
    });
    expect(received).toEqual([]);
  });

  it('is in the audit, allowed or not', async () => {
    for (const token of ['limited', 'other']) await send(polish, { method: 'PUT', token });
    const entry = { verb: 'update', group, resource: 'gadgets', subresource: 'polish', namespace: 'tools', name: 'one' };
    const about = simulator.audit.requests.filter((each) => each.group === group);
    expect(about).toContainEqual({ ...entry, user: 'limited', allowed: true });
    expect(about).toContainEqual({ ...entry, user: 'other', allowed: false });
  });

  it('is disturbed as others are', async () => {
    simulator.faults.inject({
      requests: { verb: 'update', resource: 'gadgets', subresource: 'polish' },
      effect: { kind: 'answer', status: 500, message: 'disk full' },
      times: 1,
    });
    expect((await send(polish, { method: 'PUT' })).text).toContain('disk full');
  });

  it('gets the refusal of its server as it is', async () => {
    const answer = await send(`${base}/namespaces/tools/gadgets/one`);
    expect(answer).toMatchObject({ status: 409, text: '{"kind":"Status","code":409}' });
  });

  it('that watches gets each event as it comes', async () => {
    const response = await open(`${base}/gadgets?watch=true`);
    const [first] = (await once(response, 'data')) as [Buffer];
    expect(first.toString()).toBe('{"type":"ADDED"}\n');
    response.destroy();
  });
});

describe('discovery', () => {
  beforeEach(available);

  it('lists the group among those of this server', async () => {
    const { groups } = JSON.parse((await send('/apis')).text) as { groups: { name: string }[] };
    expect(groups.map(({ name }) => name)).toEqual(expect.arrayContaining(['apps', group]));
    expect(JSON.parse((await send(`/apis/${group}`)).text)).toMatchObject({
      kind: 'APIGroup',
      preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' },
    });
    expect(JSON.parse((await send(base)).text)).toMatchObject({ kind: 'APIResourceList', groupVersion: `${group}/v1` });
  });

  it('has its kinds in the aggregated form', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { items } = JSON.parse((await send('/apis', { headers: { accept } })).text) as { items: JsonObject[] };
    expect(items.find((item) => (item['metadata'] as JsonObject)['name'] === group)).toEqual({
      metadata: { name: group },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'gadgets',
              responseKind: { group: '', version: '', kind: '' },
              scope: 'Namespaced',
              singularResource: '',
              verbs: [],
              subresources: [
                { subresource: 'polish', responseKind: { group, version: 'v1', kind: 'Gadget' }, verbs: ['update'] },
              ],
            },
          ],
        },
      ],
    });
  });

  it.skipIf(!hasKubectl)('and requests work with kubectl', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'aggregation-'));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, simulator.kubeconfig());
    const kubectl = async (...words: string[]) => (await run(kubectlProgram, ['--kubeconfig', kubeconfig, ...words])).stdout;
    expect((await kubectl('api-versions')).split('\n')).toEqual(expect.arrayContaining([`${group}/v1`, 'apps/v1']));
    expect(JSON.parse(await kubectl('get', '--raw', base))).toMatchObject({ groupVersion: `${group}/v1` });
    expect(await kubectl('get', 'apiservices')).toMatch(/^v1\.gadgets\.example\.com +tools\/gadgets +True /m);
    rmSync(folder, { recursive: true });
  });
});

describe('an aggregated API whose server went', () => {
  beforeEach(available);

  it('answers with what happened, until the next check notices it', async () => {
    const { port: closed } = await freePort();
    const { client } = simulator;
    const name = `v1.${group}`;
    const path = { group: 'apiregistration.k8s.io', resource: 'apiservices', name };
    await client.patch(path, {
      type: 'merge',
      body: { spec: { caBundle: Buffer.from(simulator.caCertificate ?? '').toString('base64') } },
    });
    expect(await send(`${base}/gadgets`)).toMatchObject({
      status: 503,
      text: 'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    });
    simulator.serveService('tools', 'gadgets', { host: '127.0.0.1', port: closed });
    await conditionIs('FailedDiscoveryCheck');
    expect(await send(`${base}/gadgets`)).toMatchObject({ status: 503, text: 'service unavailable\n' });
    expect((await send('/apis')).text).toContain(group);
  });

  it('is not listed after its APIService was deleted', async () => {
    const path = { group: 'apiregistration.k8s.io', resource: 'apiservices', name: `v1.${group}` };
    await simulator.client.delete(path);
    expect((await send(`/apis/${group}`)).status).toBe(404);
    expect((await send(`${base}/gadgets`)).status).toBe(404);
  });
});

describe('an APIService', () => {
  it.each([
    [
      { version: 'v2' },
      'metadata.name: Invalid value: "v1.gadgets.example.com": must be `spec.version+"."+spec.group`: "v2.gadgets.example.com"',
    ],
    [{ groupPriorityMinimum: 0 }, 'spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000'],
    [{ versionPriority: 1001 }, 'spec.versionPriority: Invalid value: 1001: must be positive and less than 1000'],
    [{ service: { name: 'gadgets' } }, 'spec.service.namespace: Required value'],
    [{ insecureSkipTLSVerify: true }, 'spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present'],
    [{ service: null }, /^APIService.*spec.caBundle: Invalid value: "\d+ bytes": local APIServices may not have a caBundle$/],
  ])('%j is refused', async (over, message) => {
    const expected =
      typeof message === 'string' ? `APIService.apiregistration.k8s.io "v1.${group}" is invalid: ${message}` : message;
    await expect(register(over)).rejects.toThrow(expected);
  });

  it('without a Service is of this server, and available', async () => {
    await register({ service: null, caBundle: null });
    await conditionIs('Local');
    expect((await send(`${base}/gadgets`)).status).toBe(404);
  });
});

/** A port that was free a moment ago. */
const freePort = async (): Promise<AddressInfo> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return address;
};
