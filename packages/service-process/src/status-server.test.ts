import { connect } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { parseListenAddress } from './listen-address.js';
import { type StatusSources, startStatusServer } from './status-server.js';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

async function start(sources: Partial<StatusSources> = {}): Promise<number> {
  const server = await startStatusServer(
    { host: '127.0.0.1', port: 0 },
    { unready: () => [], registry: new Registry(), ...sources },
  );
  stops.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function get(port: number, path: string, method = 'GET'): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
  return `${response.status} ${(await response.text()).trim()}`;
}

describe('startStatusServer', () => {
  it('answers health and readiness as upstream does, and says what is not ready', async () => {
    let unready: string[] = [];
    const port = await start({ unready: () => unready });
    expect(await get(port, '/healthz')).toBe('200 {"ok":true}');
    expect(await get(port, '/readyz')).toBe('200 {"ok":true}');
    unready = ['caches are being filled: ipPools'];
    expect(await get(port, '/readyz')).toBe('503 caches are being filled: ipPools');
    expect(await get(port, '/healthz', 'POST')).toBe('405 only GET is known here');
  });

  it('serves pages with what follows their path', async () => {
    const page = ({ rest }: { readonly rest: string }) => ({ status: 200, contentType: 'text/plain', body: ['<', rest, '>'] });
    const port = await start({ pages: { '/caches/': page } });
    expect(await get(port, '/caches/default%2Fnet')).toBe('200 <default/net>');
    expect(await get(port, '/')).toBe('404 nothing is here; there are /healthz, /readyz, /metrics, /caches/');
  });

  it.each(['GET // HTTP/1.1', 'GET http://[ HTTP/1.1', 'GET /%zz HTTP/1.1'])('%s ends nothing', async (line) => {
    const port = await start({ pages: { '/x/': () => ({ status: 200, contentType: 'text/plain', body: [] }) } });
    await new Promise<void>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(`${line}\r\nHost: x\r\nConnection: close\r\n\r\n`));
      socket
        .resume()
        .on('close', () => resolve())
        .on('error', reject);
    });
    expect(await get(port, '/healthz')).toBe('200 {"ok":true}');
  });
});

describe('parseListenAddress', () => {
  it.each([
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    [':8080', { host: '::', port: 8080 }],
    ['off', 'off'],
  ])('%s', (text, expected) => {
    expect(parseListenAddress(text)).toEqual(expected);
  });

  it.each(['8080', 'host:99999', 'a b:80', ''])('refuses %j', (text) => {
    expect(() => parseListenAddress(text)).toThrow('write HOST:PORT');
  });
});
