import { expect, it, onTestFinished, vi } from 'vitest';
import {
  CREDENTIALS,
  failureOf,
  link,
  type Responder,
  refuse,
  SMALL,
  sendJson,
  serve,
  startService,
} from './service-fixtures.js';

it('a BMC that answers 401 for one resource, whatever the session, does not get one more session with each poll', async () => {
  const live = new Map<string, string>();
  let count = 0;
  const respond: Responder = (request, response) => {
    if (request.path === '/sessions' && request.method === 'POST') {
      const path = `/sessions/${++count}`;
      live.set(`token-${count}`, path);
      return sendJson(response, link(path), { status: 201, headers: { 'X-Auth-Token': `token-${count}`, Location: path } });
    }
    if (request.path !== '/redfish/v1/' && !live.has(String(request.headers['x-auth-token']))) return refuse(response, 401);
    if (request.method === 'DELETE') {
      for (const [token, path] of live) if (path === request.path) live.delete(token);
      return void response.writeHead(204).end();
    }
    if (request.path === '/redfish/v1/Managers/1') return refuse(response, 401, { message: 'a privilege is missing' });
    return serve({ ...SMALL, '/redfish/v1/': { ...SMALL['/redfish/v1/'], Links: { Sessions: link('/sessions') } } })(
      request,
      response,
    );
  };
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const one = service.client({}, { credentials: CREDENTIALS });
  for (let poll = 0; poll < 10; poll++) await failureOf(one.inspect());
  // A replaced session is ended beside the calls.
  await vi.waitFor(() => expect(live.size).toBe(1));
  await one.close();
  expect(live.size).toBe(0);
});

function guarded(location: (count: number) => string) {
  const tokens = new Map<string, string>();
  let count = 0;
  const respond: Responder = (request, response) => {
    if (request.path === '/sessions' && request.method === 'POST') {
      count++;
      tokens.set(`token-${count}`, `/sessions/${count}`);
      return sendJson(response, link(`/sessions/${count}`), {
        status: 201,
        headers: { 'X-Auth-Token': `token-${count}`, Location: location(count) },
      });
    }
    const isKnown = tokens.has(String(request.headers['x-auth-token']));
    if (request.path !== '/redfish/v1/' && !isKnown) return refuse(response, 401);
    if (request.path.startsWith('/sessions/')) {
      const found = [...tokens].find(([, path]) => path === request.path);
      if (found === undefined) return refuse(response, 404);
      tokens.delete(found[0]);
      return void response.writeHead(204).end();
    }
    return serve({ ...SMALL, '/redfish/v1/': { ...SMALL['/redfish/v1/'], Links: { Sessions: link('/sessions') } } })(
      request,
      response,
    );
  };
  return { respond, tokens };
}

it('a client whose session has expired at the BMC leaves no session behind when it is closed', async () => {
  const { respond, tokens } = guarded((count) => `/sessions/${count}`);
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const one = service.client({}, { credentials: CREDENTIALS });
  await one.inspect();
  tokens.clear();
  await one.close();
  expect([...tokens.values()]).toEqual([]);
});

it('a session whose Location has the name of the BMC is ended too: its body has the link', async () => {
  const { respond, tokens } = guarded((count) => `https://bmc-rack1.example.com/sessions/${count}`);
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const one = service.client({}, { credentials: CREDENTIALS });
  await one.inspect();
  await one.close();
  expect([...tokens.values()]).toEqual([]);
});
