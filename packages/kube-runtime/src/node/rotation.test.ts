/** Fact 24: credentials that are replaced while a process runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiConnection } from './api-connection.js';
import { connectInCluster, NoClusterError } from './cluster-connection.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kube-runtime-'));
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
let nowMs = 1_000;
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

/** A server's certificate that is its own CA. */
function certificate(name: string): { readonly key: Buffer; readonly cert: Buffer } {
  const [key, cert] = [`${name}.key`, `${name}.crt`].map((file) => join(folder, file)) as [string, string];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const parameters = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', [...parameters, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

async function serve(tls: https.ServerOptions, onRequest: (request: IncomingMessage) => unknown = () => undefined) {
  const tokens: unknown[] = [];
  const server = https.createServer(tls, (request, response) => {
    tokens.push(request.headers.authorization);
    onRequest(request);
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { tokens, close, port: (server.address() as AddressInfo).port };
}

const put = (name: string, text: string | Buffer) => writeFileSync(join(folder, name), text);
const environment = (port: number) => ({ KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) });

describe('fact 24: the ServiceAccount of a pod', () => {
  it('a new token and CA are used half a minute later, without a restart', async () => {
    const [first, second] = [certificate('first'), certificate('second')];
    const before = await serve(first);
    put('ca.crt', first.cert);
    put('token', 'one\n');
    put('namespace', 'mine\n');
    const cluster = await connectInCluster(environment(before.port), folder);
    expect([cluster.server, cluster.namespace]).toEqual([`https://127.0.0.1:${before.port}`, 'mine']);
    const connection = new ApiConnection(cluster, { userAgent: 'test' });
    const request = () => connection.request({ method: 'GET', path: '/' });
    await request();
    put('token', 'two\n');
    nowMs += 29_999;
    await request();
    nowMs += 1;
    await request();
    expect(before.tokens).toEqual(['Bearer one', 'Bearer one', 'Bearer two']);
    connection.close();
    await before.close();

    const after = await serve(second);
    const moved = new ApiConnection({ ...cluster, server: `https://127.0.0.1:${after.port}` }, { userAgent: 'test' });
    const again = () => moved.request({ method: 'GET', path: '/' });
    await expect(again()).rejects.toThrow(/certificate/);
    put('ca.crt', second.cert);
    await expect(again()).rejects.toThrow(/certificate/);
    nowMs += 30_000;
    await again();
    put('ca.crt', 'x');
    rmSync(join(folder, 'ca.crt'));
    rmSync(join(folder, 'token'));
    nowMs += 60_000;
    await again();
    expect(after.tokens, 'a file that cannot be read leaves the former content in use').toEqual(['Bearer two', 'Bearer two']);
    moved.close();
    await after.close();
  });

  it('a CA that a kubeconfig contains is the one that is trusted', async () => {
    const [ours, other] = [certificate('ours'), certificate('other')];
    const server = await serve(ours);
    const request = async (ca: Buffer) => {
      const cluster = { server: `https://127.0.0.1:${server.port}`, authorization: async () => 'Bearer x', namespace: 'default' };
      const connection = new ApiConnection({ ...cluster, tls: { ca } }, { userAgent: 'test' });
      return await connection.request({ method: 'GET', path: '/' }).finally(() => connection.close());
    };
    expect(await request(ours.cert)).toEqual({});
    await expect(request(other.cert)).rejects.toThrow(/certificate/);
    await server.close();
  });

  it('a client certificate that was replaced is shown over a new connection', async () => {
    const [own, first, second] = [certificate('server'), certificate('first'), certificate('second')];
    const shown: unknown[] = [];
    const tls = { ...own, requestCert: true, rejectUnauthorized: false };
    const server = await serve(tls, ({ socket }) => shown.push((socket as TLSSocket).getPeerCertificate().subject.CN));
    let current = first;
    const connection = new ApiConnection(
      {
        server: `https://127.0.0.1:${server.port}`,
        tls: { ca: own.cert },
        clientCertificate: async () => current,
        authorization: async () => undefined,
        namespace: 'default',
      },
      { userAgent: 'test' },
    );
    const request = () => connection.request({ method: 'GET', path: '/' });
    await request();
    current = second;
    await request();
    await request();
    expect(shown).toEqual(['first', 'second', 'second']);
    connection.close();
    await server.close();
  });

  it.each<[string, () => Record<string, string>, RegExp]>([
    ['no environment', () => ({}), /KUBERNETES_SERVICE_HOST is not set/],
    ['no CA', () => environment(1), /has no ServiceAccount: .*ENOENT/],
    [
      'no token',
      () => {
        put('ca.crt', 'x');
        return environment(1);
      },
      /token cannot be read: .*ENOENT/,
    ],
  ])('%s is a sentence', async (_, prepare, message) => {
    const connecting = connectInCluster(prepare(), folder);
    await expect(connecting).rejects.toThrow(NoClusterError);
    await expect(connecting).rejects.toThrow(message);
  });

  it('an IPv6 address is written in brackets, and without a namespace it is the default one', async () => {
    put('ca.crt', 'x');
    put('token', 'one');
    const cluster = await connectInCluster({ KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder);
    expect([cluster.server, cluster.namespace]).toEqual(['https://[fd00::1]:443', 'default']);
  });
});
