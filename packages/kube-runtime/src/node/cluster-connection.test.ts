import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClusterConnection, connectByKubeConfig, NoClusterError } from './cluster-connection.js';

let folder = '';
let nowMs = 1_000;
beforeEach(() => {
  folder = mkdtempSync(join(os.tmpdir(), 'kubeconfig-'));
  vi.stubEnv('KUBECONFIG', '');
  vi.stubEnv('HOME', folder);
  vi.spyOn(os, 'homedir').mockImplementation(() => folder);
  syncBuiltinESMExports();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SERVER = 'https://10.53.0.1:6443';

interface Parts {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  readonly current?: string;
  readonly namespace?: string;
}

/** A kubeconfig of two contexts, of which `admin` is the current one; JSON is YAML. */
function kubeConfig({ cluster = { server: SERVER }, user = {}, current = 'admin', namespace }: Parts = {}): string {
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'one', cluster },
      { name: 'two', cluster: { server: 'https://two.example:6443' } },
    ],
    users: [
      { name: 'me', user },
      { name: 'you', user: { token: 'yours' } },
    ],
    contexts: [
      { name: 'admin', context: { cluster: 'one', user: 'me', ...(namespace !== undefined && { namespace }) } },
      { name: 'other', context: { cluster: 'two', user: 'you', namespace: 'theirs' } },
    ],
    'current-context': current,
  });
  return forTheLibrary?.(text) ?? text;
}

/** Changes a kubeconfig so that only the library reads it. */
let forTheLibrary: ((text: string) => string) | undefined;

/** Writes the file; returns its path. */
function put(text: string, name = 'config'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** An exec plugin whose credential is the number of its runs. */
function pluginThatCounts(field: string, expirationTimestamp?: string) {
  const runs = JSON.stringify(join(folder, 'runs'));
  const rest = JSON.stringify({ clientKeyData: 'the key', expirationTimestamp });
  const script = put(
    `const fs = require('node:fs');
    fs.appendFileSync(${runs}, 'x');
    const credential = 'run-' + fs.readFileSync(${runs}, 'utf8').length;
    console.log(JSON.stringify({ status: { ${field}: credential, ...${rest} } }));`,
    'plugin.cjs',
  );
  return { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [script] };
}

const connect = (parts: Parts) => connectByKubeConfig({ path: put(kubeConfig(parts)) });

/** Everything about TLS: what stays, and what is current. */
const tlsOf = async ({ tls, ca, clientCertificate }: ClusterConnection) => ({
  ...(ca !== undefined && { ca: await ca() }),
  ...(await clientCertificate?.()),
  ...tls,
});

describe.each([
  ['read by the library where it has to be', undefined],
  ['always read by the library', (text: string) => `# A comment.\n${text}`],
])('the connection of a kubeconfig, %s', (_, asText) => {
  beforeEach(() => {
    forTheLibrary = asText;
  });
  afterEach(() => {
    forTheLibrary = undefined;
  });

  it('uses the current context: its server, its namespace and its token', async () => {
    const cluster = await connect({ user: { token: 'mine' }, namespace: 'vms' });
    expect(cluster).toMatchObject({ server: SERVER, namespace: 'vms', tls: {} });
    expect(await cluster.authorization()).toBe('Bearer mine');
  });

  it('uses the requested context', async () => {
    const cluster = await connectByKubeConfig({ path: put(kubeConfig({ user: { token: 'mine' } })), context: 'other' });
    expect([cluster.server, cluster.namespace]).toEqual(['https://two.example:6443', 'theirs']);
    expect(await cluster.authorization()).toBe('Bearer yours');
  });

  it('has the default namespace if the context names none', async () => {
    expect((await connect({})).namespace).toBe('default');
  });

  it('has the CA, the client certificate, the name and the checks that the kubeconfig describes, and nothing else', async () => {
    const cluster = await connect({
      cluster: { server: SERVER, 'certificate-authority-data': base64('ca'), 'tls-server-name': 'api.example' },
      user: { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') },
    });
    expect(await tlsOf(cluster)).toStrictEqual({
      ca: Buffer.from('ca'),
      cert: Buffer.from('cert'),
      key: Buffer.from('key'),
      servername: 'api.example',
    });
    expect(await cluster.authorization()).toBeUndefined();
    expect((await connect({ cluster: { server: SERVER, 'insecure-skip-tls-verify': true } })).tls).toStrictEqual({
      rejectUnauthorized: false,
    });
  });

  it('accepts plain HTTP, which kubectl proxy serves, and verifies TLS all the same', async () => {
    expect((await connect({ cluster: { server: 'http://127.0.0.1:8001' } })).server).toBe('http://127.0.0.1:8001');
    expect((await connect({ cluster: { server: SERVER } })).tls).toStrictEqual({});
  });

  it('ignores an incomplete entry that the context does not use', async () => {
    const half = kubeConfig({ user: { token: 'mine' } }).replace('"clusters":[', '"clusters":[{"name":"half","cluster":{}},');
    expect(half).toContain('half');
    expect((await connectByKubeConfig({ path: put(half) })).server).toBe(SERVER);
  });

  it('finds files beside the kubeconfig', async () => {
    put('the CA', 'ca.crt');
    put('the certificate', 'client.crt');
    put('the key', 'client.key');
    const cluster = await connect({
      cluster: { server: SERVER, 'certificate-authority': 'ca.crt' },
      user: { 'client-certificate': 'client.crt', 'client-key': 'client.key' },
    });
    const [ca, cert, key] = ['the CA', 'the certificate', 'the key'].map((text) => Buffer.from(text));
    expect(await tlsOf(cluster)).toStrictEqual({ ca, cert, key });
  });

  it('uses files that were replaced half a minute later, and goes on with the former ones while they are missing', async () => {
    for (const name of ['ca', 'cert', 'key']) put(`old ${name}`, name);
    const cluster = await connect({
      cluster: { server: SERVER, 'certificate-authority': 'ca' },
      user: { 'client-certificate': 'cert', 'client-key': 'key' },
    });
    const texts = async () => Object.values(await tlsOf(cluster)).map(String);
    expect(await texts()).toEqual(['old ca', 'old cert', 'old key']);
    for (const name of ['ca', 'cert', 'key']) put(`new ${name}`, name);
    nowMs += 29_999;
    expect(await texts()).toEqual(['old ca', 'old cert', 'old key']);
    nowMs += 1;
    expect(await texts()).toEqual(['new ca', 'new cert', 'new key']);
    rmSync(join(folder, 'key'));
    nowMs += 30_000;
    expect(await texts()).toEqual(['new ca', 'new cert', 'new key']);
  });

  it('with a token file sends its current content, even if there is a token too', async () => {
    put('one\n', 'token');
    const { authorization } = await connect({ user: { tokenFile: 'token', token: 'old' } });
    expect(await authorization()).toBe('Bearer one');
    put('two\n', 'token');
    nowMs += 29_999;
    expect(await authorization()).toBe('Bearer one');
    nowMs += 1;
    expect(await authorization()).toBe('Bearer two');
    rmSync(join(folder, 'token'));
    nowMs += 60_000;
    expect(await authorization(), 'the file cannot be read').toBe('Bearer two');
    put('one', 'token');
    const path = put(kubeConfig({ user: { tokenFile: 'token' } }));
    const other = await connectByKubeConfig({ path, context: 'other' });
    expect(await other.authorization(), 'another user').toBe('Bearer yours');
  });

  it('sends a user name and a password as Basic', async () => {
    const { authorization } = await connect({ user: { username: 'me', password: 'pass' } });
    expect(await authorization()).toBe(`Basic ${base64('me:pass')}`);
  });

  it('acts as the user that `as` names, who may do less', async () => {
    const user = { token: 'mine', as: 'system:serviceaccount:x:limited', 'as-groups': ['guests'] };
    const { headers, authorization } = await connect({ user });
    expect([headers, await authorization()]).toEqual([
      { 'impersonate-user': 'system:serviceaccount:x:limited', 'impersonate-group': ['guests'] },
      'Bearer mine',
    ]);
    expect(await connect({ user: { token: 'mine' } })).not.toHaveProperty('headers');
  });

  it.each([
    [`${SERVER}/`, SERVER],
    [`${SERVER}///`, SERVER],
    ['https://rancher.example/k8s/clusters/c-1', 'https://rancher.example/k8s/clusters/c-1'],
    ['https://rancher.example/k8s/clusters/c-1/', 'https://rancher.example/k8s/clusters/c-1'],
  ])('to %s connects to %s', async (server, expected) => {
    expect((await connect({ cluster: { server } })).server).toBe(expected);
  });

  it('runs an exec plugin again when its token has expired, at most every half minute', async () => {
    const script = put(
      `const fs = require('node:fs');
      fs.appendFileSync(${JSON.stringify(join(folder, 'runs'))}, 'x');
      const token = 'run-' + fs.readFileSync(${JSON.stringify(join(folder, 'runs'))}, 'utf8').length;
      console.log(JSON.stringify({ status: { token, expirationTimestamp: '2020-01-01T00:00:00Z' } }));`,
      'plugin.cjs',
    );
    const { authorization } = await connect({
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [script] } },
    });
    const first = await authorization();
    expect(first).toMatch(/^Bearer run-\d$/);
    nowMs += 29_999;
    expect(await authorization()).toBe(first);
    nowMs += 1;
    const second = await authorization();
    expect(second).toMatch(/^Bearer run-\d$/);
    expect(second).not.toBe(first);
    expect(await authorization()).toBe(second);
  });

  it('uses the client certificate of an exec plugin, and the next one when it has expired', async () => {
    const cluster = await connect({ user: { exec: pluginThatCounts('clientCertificateData', '2020-01-01T00:00:00Z') } });
    expect(await tlsOf(cluster)).toEqual({ cert: 'run-1', key: 'the key' });
    nowMs += 30_000;
    expect(await tlsOf(cluster)).toEqual({ cert: 'run-2', key: 'the key' });
  });

  it('keeps a token without an expiry until it is told to forget it, and asks again at most every few seconds', async () => {
    const { authorization, forget } = await connect({ user: { exec: pluginThatCounts('token') } });
    nowMs += 3_600_000;
    expect(await authorization()).toBe('Bearer run-1');
    forget?.();
    expect(await authorization()).toBe('Bearer run-2');
    nowMs += 4_999;
    forget?.();
    expect(await authorization(), 'refused again at once').toBe('Bearer run-2');
    nowMs += 1;
    forget?.();
    expect(await authorization()).toBe('Bearer run-3');
  });

  it('runs an exec plugin once for requests that come together', async () => {
    const runs = join(folder, 'runs');
    const script = put(
      `require('node:fs').appendFileSync(${JSON.stringify(runs)}, 'x');
      console.log(JSON.stringify({ status: { token: 'mine', expirationTimestamp: '2020-01-01T00:00:00Z' } }));`,
      'plugin.cjs',
    );
    const { authorization } = await connect({
      user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: process.execPath, args: [script] } },
    });
    nowMs += 30_000;
    writeFileSync(runs, '');
    expect(await Promise.all([authorization(), authorization(), authorization()])).toEqual(Array(3).fill('Bearer mine'));
    expect(readFileSync(runs, 'utf8')).toBe('x');
  });
});

describe('where the kubeconfig is', () => {
  it('KUBECONFIG names it', async () => {
    mkdirSync(join(folder, '.kube'));
    put(kubeConfig({ cluster: { server: 'https://home.example' } }), '.kube/config');
    vi.stubEnv('KUBECONFIG', put(kubeConfig()));
    expect((await connectByKubeConfig({})).server).toBe(SERVER);
  });

  it('without KUBECONFIG it is ~/.kube/config', async () => {
    mkdirSync(join(folder, '.kube'));
    put(kubeConfig(), '.kube/config');
    expect((await connectByKubeConfig({})).server).toBe(SERVER);
    expect((await connectByKubeConfig({ context: 'other' })).server).toBe('https://two.example:6443');
  });

  it('~ is the home of the account if HOME is not set, as in a service', async () => {
    vi.stubEnv('HOME', undefined);
    mkdirSync(join(folder, '.kube'));
    put(kubeConfig(), '.kube/config');
    expect((await connectByKubeConfig({})).server).toBe(SERVER);
  });

  it('a given path takes precedence over KUBECONFIG', async () => {
    vi.stubEnv('KUBECONFIG', join(folder, 'missing'));
    expect((await connect({})).server).toBe(SERVER);
  });

  it('uses the first current context of several files in KUBECONFIG, like kubectl', async () => {
    const second = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'three', cluster: { server: 'https://three.example' } }],
      users: [{ name: 'third', user: { token: 'third' } }],
      contexts: [{ name: 'third', context: { cluster: 'three', user: 'third' } }],
      'current-context': 'third',
    };
    const more = put(JSON.stringify(second), 'second');
    vi.stubEnv('KUBECONFIG', ['', put(kubeConfig()), more].join(delimiter));
    expect((await connectByKubeConfig({})).server).toBe(SERVER);
    const third = await connectByKubeConfig({ context: 'third' });
    expect([third.server, await third.authorization()]).toEqual(['https://three.example', 'Bearer third']);
    vi.stubEnv('KUBECONFIG', [put(kubeConfig({ current: '' })), more].join(delimiter));
    expect((await connectByKubeConfig({})).server).toBe('https://three.example');
  });

  it('skips a file of KUBECONFIG that does not exist, like kubectl', async () => {
    const [first, missing, second] = [put(kubeConfig({ current: '' })), join(folder, 'missing'), put(kubeConfig(), 'second')];
    vi.stubEnv('KUBECONFIG', [missing, first, missing].join(delimiter));
    expect((await connectByKubeConfig({ context: 'other' })).namespace).toBe('theirs');
    vi.stubEnv('KUBECONFIG', [first, missing, second].join(delimiter));
    expect((await connectByKubeConfig({})).server).toBe(SERVER);
  });

  it('takes the first of several clusters, users and contexts with the same name, like kubectl', async () => {
    put('second', 'token');
    const first = put(kubeConfig({ user: { token: 'first' }, namespace: 'first' }));
    const cluster = { server: 'https://second.example' };
    const second = put(kubeConfig({ cluster, user: { tokenFile: 'token' }, namespace: 'second' }), 'second');
    vi.stubEnv('KUBECONFIG', [first, second].join(delimiter));
    const { server, namespace, authorization } = await connectByKubeConfig({});
    expect([server, namespace, await authorization()]).toEqual([SERVER, 'first', 'Bearer first']);
  });
});

describe('a failure to find a cluster is explained in one sentence', () => {
  it.each<[string, () => Parameters<typeof connectByKubeConfig>[0], string]>([
    [
      'no kubeconfig at all',
      () => ({}),
      'this is not a pod, KUBECONFIG is not set, and there is no ~/.kube/config: give --kubeconfig FILE',
    ],
    [
      'a file that is missing',
      () => ({ path: join(folder, 'missing') }),
      'kubeconfig FOLDER/missing cannot be read: ENOENT (open)',
    ],
    [
      'a file of KUBECONFIG that is missing',
      () => {
        vi.stubEnv('KUBECONFIG', join(folder, 'missing'));
        return {};
      },
      'KUBECONFIG names FOLDER/missing, which does not exist: correct it, or give --kubeconfig FILE',
    ],
    [
      'one file of KUBECONFIG that is not YAML',
      () => {
        vi.stubEnv('KUBECONFIG', [put(kubeConfig()), put('users:\n- user: {token: secret\n', 'broken')].join(delimiter));
        return {};
      },
      'kubeconfig FOLDER/broken cannot be read: deficient indentation in line 3',
    ],
    [
      'a context that is in no file of KUBECONFIG',
      () => {
        vi.stubEnv('KUBECONFIG', [put(kubeConfig()), put(kubeConfig(), 'second')].join(delimiter));
        return { context: 'mine' };
      },
      "kubeconfig FOLDER/config:FOLDER/second has no cluster for its context 'mine'; there are contexts admin, other",
    ],
    [
      'a file that is not YAML: the line, but not its content',
      () => ({ path: put('apiVersion: v1\nusers:\n- user: {token: secret\n') }),
      'kubeconfig FOLDER/config cannot be read: deficient indentation in line 4',
    ],
    [
      'a file with something else: without its content',
      () => ({ path: put('users:\n- user: {token: secret}\n') }),
      "kubeconfig FOLDER/config has no cluster for its context ''; there are contexts none",
    ],
    [
      'a context that is not in it',
      () => ({ path: put(kubeConfig()), context: 'mine' }),
      "kubeconfig FOLDER/config has no cluster for its context 'mine'; there are contexts admin, other",
    ],
    [
      'a kubeconfig without contexts',
      () => ({ path: put('apiVersion: v1\nkind: Config\n') }),
      "kubeconfig FOLDER/config has no cluster for its context ''; there are contexts none",
    ],
    [
      'a server that is not a URL',
      () => ({ path: put(kubeConfig({ cluster: { server: '10.53.0.1' } })) }),
      'kubeconfig FOLDER/config: server 10.53.0.1 is not a URL; correct it',
    ],
    [
      'a proxy, which would be passed by: without its URL, which may contain a password',
      () => ({ path: put(kubeConfig({ cluster: { server: SERVER, 'proxy-url': 'http://me:secret@proxy.example:3128' } })) }),
      'kubeconfig FOLDER/config: the cluster one has a proxy-url, and proxies are not supported: run kubectl proxy, which uses it, and give a kubeconfig with server: http://127.0.0.1:8001',
    ],
    [
      'an exec plugin that is not there',
      () => ({ path: put(kubeConfig({ user: { exec: { command: '/missing/plugin' } } })) }),
      'kubeconfig FOLDER/config does not lead to a cluster: spawn /missing/plugin ENOENT',
    ],
    [
      'a file for the token that is not there',
      () => ({ path: put(kubeConfig({ user: { tokenFile: '/missing/token' } })) }),
      "kubeconfig FOLDER/config does not lead to a cluster: ENOENT: no such file or directory, open '/missing/token'",
    ],
    [
      'a CA that is not there',
      () => ({ path: put(kubeConfig({ cluster: { server: SERVER, 'certificate-authority': 'ca.crt' } })) }),
      "kubeconfig FOLDER/config does not lead to a cluster: ENOENT: no such file or directory, open 'FOLDER/ca.crt'",
    ],
  ])('%s', async (_, prepare, message) => {
    const error = await connectByKubeConfig(prepare()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(NoClusterError);
    expect((error as Error).message.replaceAll(folder, 'FOLDER')).toBe(message);
  });
});
