import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import { expect, it, onTestFinished } from 'vitest';
import { RedfishControllers } from './redfish-controllers.js';

const link = (path: string) => ({ '@odata.id': path });

type Respond = (response: ServerResponse) => void;

/** Operates a host whose systems answer a reset like this, and other requests, by method and path, like `others`. */
async function operate(
  systems: readonly Respond[],
  action: HostAction = 'ForceOff',
  others: Readonly<Record<string, Respond>> = {},
) {
  const changes: string[] = [];
  const paths = systems.map((_, index) => `/redfish/v1/Systems/${index}`);
  const resources: Record<string, object> = {
    '/redfish/v1/': { Systems: link('/redfish/v1/Systems') },
    '/redfish/v1/Systems': { Members: paths.map(link) },
    ...Object.fromEntries(
      paths.map((path, index) => [
        path,
        { ...link(path), Boot: {}, Actions: { '#ComputerSystem.Reset': { target: `/reset/${index}` } } },
      ]),
    ),
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method !== 'GET') changes.push(`${request.method} ${request.url}`);
      const other = others[`${request.method} ${request.url}`];
      if (other !== undefined) return other(response);
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
  return { ...(await made.operate(host, action, new AbortController().signal)), changes };
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

it('a power action that was not sent has no unknown outcome: the host need not be looked at', async () => {
  const { isSuccess, message, changes } = await operate([], 'ForceOff', {
    'GET /redfish/v1/Systems': (r) => r.socket?.destroy(),
  });
  expect([isSuccess, changes]).toEqual([false, []]);
  expect(message).toContain('ECONNRESET');
  expect(message).not.toContain(UNKNOWN);
});

const PATCH = 'PATCH /redfish/v1/Systems/0';

it('PxeReboot whose boot override has an unknown outcome says that no restart was sent, and from where the host may boot next', async () => {
  const { isSuccess, message, changes } = await operate([(r) => r.end()], 'PxeReboot', {
    [PATCH]: (r) => r.writeHead(504).end(),
  });
  expect([isSuccess, changes]).toEqual([false, [PATCH]]);
  expect(message).toMatch(
    /HTTP 504\. No restart was sent, but the boot override may be set: the next boot of the host may be from the network$/,
  );
});

it('PxeReboot whose restart has an unknown outcome says so, and that the boot override is set', async () => {
  const { message, changes } = await operate([(r) => r.writeHead(504).end()], 'PxeReboot', { [PATCH]: (r) => r.end() });
  expect(changes).toEqual([PATCH, 'POST /reset/0']);
  expect(message).toContain(`The boot override is set: the next boot of the host is from the network. ${UNKNOWN}`);
});

it('PxeReboot that sent nothing says nothing about the next boot', async () => {
  const { message, changes } = await operate([], 'PxeReboot', { 'GET /redfish/v1/Systems': (r) => r.socket?.destroy() });
  expect(changes).toEqual([]);
  expect(message).toMatch(/ECONNRESET$/);
});
