import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { RedfishControllers } from './redfish-controllers.js';

const SYSTEM = '/redfish/v1/Systems/1';
const link = (path: string) => ({ '@odata.id': path });
const RESOURCES: Readonly<Record<string, object>> = {
  '/redfish/v1/': { Systems: link('/redfish/v1/Systems') },
  '/redfish/v1/Systems': { Members: [link(SYSTEM)] },
  [SYSTEM]: { ...link(SYSTEM), Actions: { '#ComputerSystem.Reset': { target: '/reset' } } },
};

const accepted = (response: ServerResponse) => void response.writeHead(202, { Location: '/monitor' }).end();

it.each<[what: string, post: (response: ServerResponse) => void, monitor: (response: ServerResponse) => void]>([
  ['200 with a text', (response) => void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('OK'), accepted],
  ['200 with the page of a proxy', (response) => void response.writeHead(200).end('<html>Login</html>'), accepted],
  ['202, and its task is gone when it is looked at', accepted, (response) => void response.writeHead(404).end()],
  ['202, and the service is busy when the task is looked at', accepted, (response) => void response.writeHead(503).end()],
  ['202, and the service restarts itself meanwhile', accepted, (response) => void response.writeHead(500).end()],
])(
  'an action that the service accepted with %s is reported as perhaps carried out, so that nobody repeats it',
  async (_, post, monitor) => {
    const posts: string[] = [];
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        if (request.method === 'POST') {
          posts.push(request.url ?? '');
          post(response);
        } else if (request.url === '/monitor') monitor(response);
        else response.writeHead(200).end(JSON.stringify(RESOURCES[request.url ?? ''] ?? {}));
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const controllers = new RedfishControllers();
    onTestFinished(async () => {
      await controllers.close();
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    const host = { name: 'host', address: '127.0.0.1', connection: { https: false, port }, secret: undefined };
    const outcome = await controllers.operate(host, 'ForceRestart', new AbortController().signal);
    expect(posts).toEqual(['/reset']);
    expect(outcome).toMatchObject({
      isSuccess: false,
      message: expect.stringContaining('not known whether the host carried it out'),
    });
  },
);
