import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { RedfishControllers } from './redfish-controllers.js';

const link = (path: string) => ({ '@odata.id': path });

async function operate(systems: readonly ((response: ServerResponse) => void)[]) {
  const paths = systems.map((_, index) => `/redfish/v1/Systems/${index}`);
  const resources: Record<string, object> = {
    '/redfish/v1/': { Systems: link('/redfish/v1/Systems') },
    '/redfish/v1/Systems': { Members: paths.map(link) },
    ...Object.fromEntries(
      paths.map((path, index) => [path, { ...link(path), Actions: { '#ComputerSystem.Reset': { target: `/reset/${index}` } } }]),
    ),
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method === 'POST') return systems[Number(request.url?.split('/')[2])]?.(response);
      response.end(JSON.stringify(resources[request.url ?? ''] ?? {}));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made = new RedfishControllers();
  onTestFinished(async () => {
    await made.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const host = { name: 'agent-127-0-0-1', address: '127.0.0.1', connection: { https: false, port }, secret: undefined };
  return made.operate(host, 'ForceOff', new AbortController().signal);
}

const UNKNOWN = 'It is not known whether the host carried it out';

it('the outcome is unknown if one system refuses, and the connection of another one ends after the request', async () => {
  const { isSuccess, message } = await operate([(r) => r.writeHead(400).end(), (r) => r.socket?.destroy()]);
  expect(isSuccess).toBe(false);
  expect(message).toContain(UNKNOWN);
});

it.each<[string, (response: ServerResponse) => void]>([
  ['2xx with more octets than allowed', (r) => r.writeHead(200, { 'Content-Length': '5000000' }).write('{')],
  ['2xx and then a broken chunk', (r) => r.socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n')],
  ['octets that are not HTTP', (r) => r.socket?.write('OK\r\n\r\n')],
  ['2xx with too large headers', (r) => r.socket?.write(`HTTP/1.1 204 No Content\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`)],
  ['HTTP 504 of a proxy in the BMC', (r) => r.writeHead(504).end()],
  ['HTTP 502 of a proxy in the BMC', (r) => r.writeHead(502).end()],
  ['HTTP 303', (r) => r.writeHead(303, { Location: '/x' }).end()],
  ['2xx with too many values', (r) => r.writeHead(200).end(`{"a":[${'1,'.repeat(200_000)}1]}`)],
])('the power action was sent and answered by %s: the outcome is unknown', async (_, answer) => {
  const { isSuccess, message } = await operate([answer]);
  expect(isSuccess).toBe(false);
  expect(message).toContain(UNKNOWN);
});
