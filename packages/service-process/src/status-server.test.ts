import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Counter, Gauge, Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import { ReadGauge } from './read-gauge.js';
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
  it('answers health and readiness as upstream does, and names what is not ready', async () => {
    let unready: string[] = [];
    const port = await start({ unready: () => unready });
    expect(await get(port, '/healthz')).toBe('200 {"ok":true}');
    expect(await get(port, '/readyz')).toBe('200 {"ok":true}');
    unready = ['caches are being filled: ipPools'];
    expect(await get(port, '/readyz')).toBe('503 caches are being filled: ipPools');
    expect(await get(port, '/healthz', 'POST')).toBe('405 only GET is known here');
  });

  it('names what a process lacks, whether it is ready or not', async () => {
    let unready: string[] = [];
    const port = await start({ unready: () => unready, lacks: () => ['dhcp: the kind VirtualMachine'] });
    expect(await get(port, '/readyz')).toBe('200 {"ok":true,"lacks":["dhcp: the kind VirtualMachine"]}');
    expect(await get(port, '/healthz')).toBe('200 {"ok":true}');
    unready = ['caches are being filled: ipPools'];
    expect(await get(port, '/readyz')).toBe('503 caches are being filled: ipPools\ndhcp: the kind VirtualMachine');
  });

  it('says why the process should be restarted', async () => {
    const port = await start({ unhealthy: () => ['eth0 UDP port 9: EADDRINUSE'] });
    expect(await get(port, '/healthz')).toBe('503 eth0 UDP port 9: EADDRINUSE');
    expect(await get(port, '/readyz')).toBe('200 {"ok":true}');
  });

  it('serves pages with the rest of their path', async () => {
    const page = ({ rest }: { readonly rest: string }) => ({ status: 200, contentType: 'text/plain', body: ['<', rest, '>'] });
    const port = await start({ pages: { '/caches/': page } });
    expect(await get(port, '/caches/default%2Fnet')).toBe('200 <default/net>');
    expect(await get(port, '/')).toBe('404 nothing is here; there are /healthz, /readyz, /metrics, /caches/');
  });

  it('serves the metrics of the registry, and a process with very many does other work meanwhile', async () => {
    const registry = new Registry();
    const registers = [registry];
    new Counter({ name: 'packets_total', help: 'Packets.', labelNames: ['reason'], registers }).inc({ reason: 'odd' }, 3);
    let turns = 0;
    let waiting = setImmediate(function count() {
      turns++;
      waiting = setImmediate(count);
    });
    const turnsSeen = new Set<number>();
    function* read() {
      for (let number = 0; number < 20_000; number++) {
        turnsSeen.add(turns);
        yield { labels: { name: `thing ${number}` }, value: number };
      }
    }
    new ReadGauge({ name: 'things', help: 'Things.', labelNames: ['name'], registers, read });
    new Gauge({ name: 'leading', help: 'Leading.', registers }).set(1);
    const port = await start({ registry });
    const page = await get(port, '/metrics');
    clearImmediate(waiting);
    // 20,000 lines are 0.6 MB.
    expect(turnsSeen.size).toBeGreaterThan(10);
    expect(page).toBe(`200 ${(await registry.metrics()).trim()}`);
  });

  it('a page of metrics is complete for two simultaneous clients, and reading stops when a client hangs up', async () => {
    const registry = new Registry();
    const registers = [registry];
    const ended: string[] = [];
    function* read() {
      let how = 'cut short';
      try {
        for (let number = 0; number < 60_000; number++) yield { labels: { name: `thing ${number}` }, value: number };
        how = 'whole';
      } finally {
        ended.push(how);
      }
    }
    new ReadGauge({ name: 'things', help: 'Things.', labelNames: ['name'], registers, read });
    const port = await start({ registry });
    const asked = request({ host: '127.0.0.1', port, path: '/metrics', agent: false }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    await once(response, 'data');
    response.destroy();
    const pages = await Promise.all([get(port, '/metrics'), get(port, '/metrics')]);
    const expected = `200 ${(await registry.metrics()).trim()}`;
    expect(pages.map((page) => page === expected)).toEqual([true, true]);
    expect(ended.toSorted()).toEqual(['cut short', 'whole', 'whole', 'whole']);
  });

  it('a page of metrics that fails halfway is not mistaken for a complete one, and does not end the process', async () => {
    const registry = new Registry();
    function* read() {
      for (let number = 0; number < 2_000; number++) yield { labels: { name: `thing ${number}` }, value: number };
      throw new Error('gone');
    }
    new ReadGauge({ name: 'things', help: 'Things.', labelNames: ['name'], registers: [registry], read });
    const port = await start({ registry });
    await expect(get(port, '/metrics')).rejects.toThrow('terminated');
    expect(await get(port, '/healthz')).toBe('200 {"ok":true}');
  });

  it.each(['GET // HTTP/1.1', 'GET http://[ HTTP/1.1', 'GET /%zz HTTP/1.1'])('%s does not end the process', async (line) => {
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

describe('connections to the status server', () => {
  const ANSWER_MS = 1_000;
  const kept: Socket[] = [];
  afterEach(() => {
    for (const socket of kept.splice(0)) socket.destroy();
  });

  /** Requests over a new connection, like a kubelet. */
  async function probe(port: number): Promise<number | undefined> {
    const asked = request({ host: '127.0.0.1', port, path: '/healthz', agent: false, signal: AbortSignal.timeout(ANSWER_MS) });
    asked.end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  /** Opens a connection, writes this, and leaves it open. Resolves with what ends it. */
  function hold(port: number, text: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    kept.push(socket);
    let received = '';
    socket.setEncoding('utf8').on('data', (part: string) => {
      received += part;
    });
    socket.write(text);
    return new Promise((resolve) => socket.on('error', () => undefined).on('close', () => resolve(received)));
  }

  it('a probe gets in, however many connections are held open: the oldest of them goes', { timeout: 20_000 }, async () => {
    const port = await start();
    for (let count = 0; count < 200; count++) {
      const socket = connect(port, '127.0.0.1');
      kept.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve).once('error', resolve));
      socket.on('error', () => undefined);
      if (count % 40 !== 0) continue;
      expect(await probe(port)).toBe(200);
    }
  });

  it('a client that keeps its connection open is cut off, whatever it has sent', { timeout: 20_000 }, async () => {
    const requests = {
      nothing: '',
      'half a request': 'GET /healthz HTTP/1.1\r\nHost: x\r\n',
      'a body that does not come': 'GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n',
      'nothing more after an answer': 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    };
    const port = await start();
    // Node would keep them for a minute.
    await Promise.all(Object.values(requests).map((text) => hold(port, text)));
  });
});
