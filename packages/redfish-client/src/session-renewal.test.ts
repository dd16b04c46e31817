/** A service may end a session at any time. The client begins another one, once for each call, and ends the former one without holding up a call. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  CREDENTIALS,
  collection,
  failureOf,
  link,
  type Responder,
  refuse,
  type SeenRequest,
  SMALL,
  sendJson,
  serve,
  startService,
} from './service-fixtures.js';

const ROOT = { ...SMALL['/redfish/v1/'], Links: { Sessions: link('/sessions') } };
/** The second is for a client that could not read the first in the service root. */
const LOGINS: ReadonlySet<string> = new Set(['/sessions', '/redfish/v1/SessionService/Sessions']);
const RESET = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset';

type Exception = (...parameters: Parameters<Responder>) => boolean;

/** A service with sessions only. `answersItself` answers a request before the session is checked; logins are answered before that. */
async function start(answersItself: Exception = () => false, systems = ['/redfish/v1/Systems/1']) {
  const tokens = new Set<string>();
  let count = 0;
  const isKnown = ({ headers }: SeenRequest) => tokens.has(String(headers['x-auth-token']));
  const login: Responder = (_, response) => {
    tokens.add(`token-${++count}`);
    const headers = { 'X-Auth-Token': `token-${count}`, Location: `/sessions/${count}` };
    return sendJson(response, link(`/sessions/${count}`), { status: 201, headers });
  };
  const service = await startService((request, response) => {
    const { method, path } = request;
    if (answersItself(request, response)) return undefined;
    if (LOGINS.has(path) && method === 'POST') return login(request, response);
    if (path !== '/redfish/v1/' && !isKnown(request)) return refuse(response, 401);
    if (method === 'DELETE') tokens.delete(`token-${path.split('/')[2]}`);
    return serve({ ...SMALL, '/redfish/v1/': ROOT, '/redfish/v1/Systems': collection(...systems) })(request, response);
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const logins = () => service.requests.filter(({ method, path }) => method === 'POST' && LOGINS.has(path)).length;
  const sent = (method: string, path: string) => service.requests.filter((one) => one.method === method && one.path === path);
  const client = service.client({}, { credentials: CREDENTIALS });
  return { client, service, tokens, isKnown, expire: () => tokens.clear(), logins, sent };
}

describe('a session that the service has ended', () => {
  it('is replaced although the service root is readable by anybody, and redirects to another spelling of itself', async () => {
    const { client, expire, logins } = await start(({ path }, response) => {
      if (path === '/redfish/v1/') response.writeHead(301, { Location: '/redfish/v1' }).end();
      if (path === '/redfish/v1') sendJson(response, ROOT);
      return path.endsWith('/v1/') || path.endsWith('/v1');
    });
    await client.inspect();
    expire();
    await client.inspect();
    expect(logins()).toBe(2);
  });

  it('is replaced although the service answers another resource to anybody', async () => {
    const { client, expire, logins } = await start(({ path }, response) => {
      if (path === '/redfish/v1/Managers') sendJson(response, { Members: [] });
      return path === '/redfish/v1/Managers';
    });
    await client.inspect();
    expire();
    await client.inspect();
    expect(logins()).toBe(2);
  });

  it('is replaced in the middle of a report', async () => {
    let reads = 0;
    const { client, expire, logins } = await start(({ path }) => {
      if (path === '/redfish/v1/Systems' && ++reads === 1) expire();
      return false;
    });
    const { info } = await client.inspect();
    expect([info['PowerState'], logins()]).toEqual(['On', 2]);
  });

  it('is replaced while the client waits for the task of a power action, which is not sent again', async () => {
    let looks = 0;
    const { client, expire, logins, isKnown, sent } = await start((request, response) => {
      const isMonitor = request.path === '/monitor';
      if (!isMonitor && request.path !== RESET) return false;
      if (isMonitor && ++looks === 2) expire();
      if (!isKnown(request)) refuse(response, 401);
      else if (looks > 1) response.writeHead(204).end();
      else response.writeHead(202, { Location: '/monitor' }).end();
      return true;
    });
    await client.reset('ForceOff');
    expect([logins(), sent('POST', RESET).length]).toEqual([2, 1]);
  });

  it('is replaced once, although another call was refused with it before that, and reads its refusal after that', async () => {
    let isHeld = false;
    const refusal = Promise.withResolvers<void>();
    const { client, expire, logins } = await start(({ path, headers }, response) => {
      if (!isHeld || path !== '/redfish/v1/Managers' || headers['x-auth-token'] !== 'token-1') return false;
      isHeld = false;
      void refusal.promise.then(() => refuse(response, 401));
      return true;
    });
    await client.inspect();
    expire();
    isHeld = true;
    const late = client.inspect();
    await vi.waitFor(() => expect(isHeld).toBe(false));
    await client.inspect();
    refusal.resolve();
    await late;
    expect(logins()).toBe(2);
  });
});

describe('a call logs in once, and does not risk the lock of the account', () => {
  it('if the service refuses several resources whatever the session', async () => {
    const memory = ['/memory/1', '/memory/2', '/memory/3'];
    const { client, logins } = await start(({ path }, response) => {
      if (path === '/memory') sendJson(response, { Members: memory.map(link) });
      else if (path === '/redfish/v1/Systems/1') sendJson(response, { ...SMALL[path], Memory: link('/memory') });
      else if (memory.includes(path)) refuse(response, 401);
      else return false;
      return true;
    });
    expect(await failureOf(client.inspect())).toMatchObject({ code: 'unauthorized' });
    // One for the first session, one to replace it.
    expect(logins()).toBe(2);
    await failureOf(client.inspect());
    expect(logins()).toBe(3);
  });

  it('if the service refuses a power action of each system whatever the session', async () => {
    const system = (number: number) => ({
      ...SMALL['/redfish/v1/Systems/1'],
      ...link(`/system/${number}`),
      Actions: { '#ComputerSystem.Reset': { target: `/reset/${number}` } },
    });
    const { client, logins } = await start(
      ({ method, path }, response) => {
        if (path.startsWith('/system/')) sendJson(response, system(Number(path.at(-1))));
        else if (path.startsWith('/reset/') && method === 'POST') refuse(response, 401);
        else return false;
        return true;
      },
      ['/system/1', '/system/2', '/system/3'],
    );
    const failure = await failureOf(client.reset('ForceOff'));
    expect(failure).toMatchObject({ code: 'unauthorized', message: expect.stringContaining('3 of 3 systems') as string });
    expect(logins()).toBe(2);
  });

  it('if the service refuses the login with HTTP 403 after the session has ended in the middle of a report', async () => {
    let isLocked = false;
    const { client, expire, logins } = await start(({ method, path }, response) => {
      if (path === '/redfish/v1/Systems/1') {
        sendJson(response, { ...SMALL[path], Memory: link('/memory'), Processors: link('/cpu'), Storage: link('/storage') });
        expire();
        isLocked = true;
        return true;
      }
      if (!isLocked || method !== 'POST') return false;
      refuse(response, 403);
      return true;
    });
    const { info } = await client.inspect();
    expect(info['Incomplete']).toBe('Cpu: forbidden, Memory: forbidden, Storage: forbidden');
    expect(logins()).toBe(2);
  });
});

describe('a session that was replaced', () => {
  it('is ended after the call', async () => {
    const { client, tokens } = await start(({ path }, response) => {
      if (path !== '/redfish/v1/Managers/1') return false;
      refuse(response, 401);
      return true;
    });
    await failureOf(client.inspect());
    await vi.waitFor(() => expect([...tokens]).toEqual(['token-2']));
  });

  it('does not hold up a power action if the service never answers its end', async () => {
    const unanswered: (() => void)[] = [];
    const { client, expire, sent } = await start(({ method, path }, response) => {
      if (method !== 'DELETE' || path !== '/sessions/1') return false;
      unanswered.push(() => response.destroy());
      return true;
    });
    await client.inspect();
    expire();
    await client.reset('ForceOff');
    expect(sent('POST', RESET).map(({ headers }) => headers['x-auth-token'])).toEqual(['token-2']);
    await vi.waitFor(() => expect(unanswered).toHaveLength(1));
    unanswered[0]?.();
  });
});
