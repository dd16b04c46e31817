import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { connectByKubeConfig } from '@vmdhcp/kube-runtime/node';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { readSimpleKubeConfig } from './simple-kubeconfig.js';

const folder = mkdtempSync(join(tmpdir(), 'simple-kubeconfig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SERVER = 'https://10.53.0.1:6443';

interface Parts {
  readonly cluster?: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
  readonly namespace?: string;
}

function put({ cluster = {}, user = {}, namespace }: Parts): string {
  const path = join(folder, 'config');
  const config = {
    clusters: [{ name: 'one', cluster: { server: SERVER, ...cluster } }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'admin', context: { cluster: 'one', user: 'me', ...(namespace !== undefined && { namespace }) } }],
    'current-context': 'admin',
  };
  writeFileSync(path, stringify(config));
  return path;
}

describe('a kubeconfig of the common kind', () => {
  it.each<readonly [string, Parts]>([
    ['a token', { user: { token: 'mine' }, namespace: 'vms' }],
    [
      'a client certificate and a CA, as data',
      {
        cluster: { 'certificate-authority-data': base64('ca'), 'tls-server-name': 'api.example' },
        user: { 'client-certificate-data': base64('cert'), 'client-key-data': base64('key') },
      },
    ],
    ['files beside it', { cluster: { 'certificate-authority': 'ca.crt' } }],
    ['no check of the server', { cluster: { server: `${SERVER}/`, 'insecure-skip-tls-verify': true } }],
  ])('with %s: the connection is the one that the library finds', async (_, parts) => {
    writeFileSync(join(folder, 'ca.crt'), 'the CA');
    const path = put(parts);
    const [simple, full] = [readSimpleKubeConfig({ kubeconfig: path }, {}), await connectByKubeConfig({ path })];
    expect(simple).toMatchObject({ server: full.server, namespace: full.namespace });
    expect(simple?.tls).toStrictEqual(full.tls);
    expect(await simple?.authorization()).toBe(await full.authorization());
    expect(readSimpleKubeConfig({}, { KUBECONFIG: path })?.server).toBe(full.server);
  });

  it.each<readonly [string, Parts]>([
    ['an exec plugin', { user: { exec: { command: 'login' } } }],
    ['a file for the token', { user: { tokenFile: 'token' } }],
    ['an impersonation', { user: { token: 'mine', as: 'other' } }],
    ['a proxy', { cluster: { 'proxy-url': 'http://proxy.example' } }],
    ['a server that is no URL', { cluster: { server: 'nowhere' } }],
    ['a token that is a number', { user: { token: 12_345_678 } }],
    ['a CA that is a list', { cluster: { 'certificate-authority-data': ['a'] } }],
    ['a name of the server that is a number', { cluster: { 'tls-server-name': 5 } }],
    ['a word in place of true', { cluster: { 'insecure-skip-tls-verify': 'yes' } }],
    ['a token of null', { user: { token: null } }],
    ['a CA file that is missing', { cluster: { 'certificate-authority': 'gone.crt' } }],
  ])('with %s is for the library', (_, parts) => {
    expect(readSimpleKubeConfig({ kubeconfig: put(parts) }, {})).toBeUndefined();
  });

  it('is for the library where there are several, none, or not the context', () => {
    const path = put({ user: { token: 'mine' } });
    expect(readSimpleKubeConfig({}, { KUBECONFIG: `${path}${delimiter}${path}` })).toBeUndefined();
    expect(readSimpleKubeConfig({ kubeconfig: join(folder, 'none') }, {})).toBeUndefined();
    expect(readSimpleKubeConfig({ kubeconfig: path, context: 'other' }, {})).toBeUndefined();
    expect(readSimpleKubeConfig({ kubeconfig: path, context: 'admin' }, {})?.server).toBe(SERVER);
  });
});
