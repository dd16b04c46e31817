import { loadYaml } from '@kubernetes/client-node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPlainKubeConfig } from './plain-kube-config.js';

const CA = Buffer.from('-----BEGIN CERTIFICATE-----').toString('base64');

/** As kubeadm and k3s write it. */
const KUBEADM = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${CA}
    server: https://127.0.0.1:6443
  name: default
contexts:
- context:
    cluster: default
    user: kubernetes-admin
  name: kubernetes-admin@default
current-context: kubernetes-admin@default
kind: Config
preferences: {}
users:
- name: kubernetes-admin
  user:
    client-certificate-data: LS0t
    client-key-data: LS1=
`;

/** As Rancher writes it. */
const QUOTED = `apiVersion: v1
kind: Config
clusters:
- name: "local"
  cluster:
    server: "https://rancher.example/k8s/clusters/local"
users:
- name: "local"
  user:
    token: "kubeconfig-user:4xk2"
contexts:
- name: "local"
  context:
    user: "local"
    cluster: "local"
    namespace: "vms"
current-context: "local"
`;

describe('a kubeconfig that needs no library', () => {
  it('with certificates', async () => {
    expect(await readPlainKubeConfig(KUBEADM)).toStrictEqual({
      server: 'https://127.0.0.1:6443',
      tls: { ca: Buffer.from(CA, 'base64'), cert: Buffer.from('---'), key: Buffer.from('LS1=', 'base64') },
      token: undefined,
      namespace: undefined,
    });
  });

  it('with quoted texts, a token and a namespace', async () => {
    const server = 'https://rancher.example/k8s/clusters/local';
    const expected = { server, tls: {}, token: 'kubeconfig-user:4xk2', namespace: 'vms' };
    expect(await readPlainKubeConfig(QUOTED)).toStrictEqual(expected);
    expect(await readPlainKubeConfig(`# made by hand\n${QUOTED}`)).toStrictEqual(expected);
    expect(await readPlainKubeConfig(JSON.stringify(loadYaml(QUOTED)))).toStrictEqual(expected);
  });
});

it.each([
  ['a plugin', (text: string) => text.replace('client-key-data: LS1=', 'exec:\n      command: aws')],
  ['a file for the key', (text: string) => text.replace('client-key-data: LS1=', 'client-key: admin.key')],
  ['a proxy', (text: string) => text.replace('server:', 'proxy-url: http://proxy:3128\n    server:')],
  [
    'a server whose certificate is not verified',
    (text: string) => text.replace('server:', 'insecure-skip-tls-verify: true\n    server:'),
  ],
  ['an impersonated user', (text: string) => text.replace('client-key-data: LS1=', 'as: limited')],
  ['a token that reads as a number', (text: string) => text.replace('client-key-data: LS1=', 'token: 1e3')],
  ['a key given twice', (text: string) => `${text}kind: Config\n`],
  [
    'two clusters with one name',
    (text: string) => text.replace('- cluster:', '- cluster:\n    server: https://b\n  name: default\n- cluster:'),
  ],
  ['a context that is missing', (text: string) => text.replace('current-context: kubernetes-admin@', 'current-context: other@')],
  ['a user that is missing', (text: string) => text.replace('- name: kubernetes-admin\n', '- name: other\n')],
  ['a server that is not a URL', (text: string) => text.replace('https://127.0.0.1:6443', 'host.example')],
  ['nothing', () => ''],
  ['broken JSON', () => '{"clusters": ['],
])('the library reads or refuses a kubeconfig with %s', async (_, change) => {
  const text = change(KUBEADM);
  expect(text).not.toBe(KUBEADM);
  expect(await readPlainKubeConfig(text)).toBeUndefined();
});

/** Words that a reader of YAML could take for something else, and ordinary ones. */
const word = fc.oneof(
  fc.constantFrom(
    'true',
    'No',
    'null',
    '~',
    '1e3',
    '0x1f',
    '0o7',
    '2026-01-01',
    '12:30:00',
    '.5',
    '-a',
    'a:',
    'a:b',
    '<<',
    '{}',
    '[]',
    '"x"',
    "'y'",
    "''z'",
    '*a',
    '&a',
    '!a',
    '|',
    '>-',
    '%',
    '@a',
    '`',
    '#a',
    'a#b',
    'a,b',
  ),
  fc.stringMatching(/^[\w+/=.@:#"'-]{1,6}$/),
  fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/),
);
const line = fc.tuple(fc.nat(3), fc.constantFrom('', '- ', '- - '), fc.constantFrom('name', 'cluster', 'user', 'server'), word);

it('law: what is read here is what the library reads, for words and lines of any kind', async () => {
  let read = 0;
  await fc.assert(
    fc.asyncProperty(word, word, fc.array(line, { maxLength: 2 }), fc.nat(20), async (token, namespace, lines, at) => {
      const rows = QUOTED.replace('"kubeconfig-user:4xk2"', token).replace('"vms"', namespace).split('\n');
      const inserted = lines.map(([depth, dash, key, value]) => `${'  '.repeat(depth)}${dash}${key}: ${value}`);
      const text = [...rows.slice(0, at), ...inserted, ...rows.slice(at)].join('\n');
      const here = await readPlainKubeConfig(text);
      if (here === undefined) return;
      read++;
      const byLibrary = await readPlainKubeConfig(JSON.stringify(loadYaml(text)));
      expect(here).toEqual(byLibrary);
    }),
    { numRuns: 2_000 },
  );
  expect(read).toBeGreaterThan(100);
});
