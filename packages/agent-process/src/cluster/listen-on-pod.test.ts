import { once } from 'node:events';
import { createServer, get as httpGet, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { listenOnPod } from './listen-on-pod.js';
import { readPodNetwork } from './pod-interface.js';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** The port of a server that listens there. */
async function serve(host: string, podAddress?: string): Promise<{ readonly port: number; readonly interfaceName: string }> {
  const listener = await listenOnPod({ host, port: 0 }, readPodNetwork(podAddress));
  const server = createServer((_, response) => response.end('here'));
  stops.push(() => server.close());
  server.listen(listener);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, interfaceName: listener.interfaceName };
}

async function ask(host: string, port: number): Promise<number | undefined> {
  const [response] = (await once(httpGet({ host, port, agent: false }), 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

describe('listenOnPod', () => {
  it.each(['127.0.0.1', 'localhost', '::1'].filter((host) => host !== '::1' || hasIpv6()))(
    'listens on lo for %s',
    async (host) => {
      const { port, interfaceName } = await serve(host);
      expect(interfaceName).toBe('lo');
      expect(await ask(host, port)).toBe(200);
    },
  );

  it.each(['::', '0.0.0.0'].filter((host) => host !== '::' || hasIpv6()))(
    'listens on the interface with the address of the pod, on every address of it, for %s',
    async (host) => {
      const { port, interfaceName } = await serve(host, '127.0.0.1');
      expect(interfaceName).toBe('lo');
      expect(await ask('127.0.0.1', port)).toBe(200);
    },
  );

  it('refuses an address that the pod does not have', async () => {
    await expect(serve('192.0.2.77')).rejects.toThrow(
      'cannot listen on 192.0.2.77:0: no interface of the pod has 192.0.2.77; set POD_IP to the address of the pod; give another --http',
    );
  });

  it('names the option that set an address that the pod does not have', async () => {
    const listening = listenOnPod({ host: '192.0.2.77', port: 0 }, readPodNetwork(undefined), '--listen');
    await expect(listening).rejects.toThrow('give another --listen, or --listen off');
  });
});

function hasIpv6(): boolean {
  return (networkInterfaces()['lo'] ?? []).some(({ address }) => address === '::1');
}
