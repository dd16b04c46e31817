import { describe, expect, it, onTestFinished } from 'vitest';
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

interface SessionRules {
  readonly acceptsBasic?: boolean;
  /** Sent with HTTP 401. */
  readonly challenge?: string;
  readonly password?: string;
}

/** A service whose resources beyond the root need credentials. Tokens are numbered; `expire` forgets them. */
function guarded({ acceptsBasic = false, challenge, password = CREDENTIALS.password }: SessionRules) {
  const tokens = new Set<string>();
  let count = 0;
  const basic = `Basic ${Buffer.from(`${CREDENTIALS.username}:${password}`).toString('base64')}`;
  const denied = (response: Parameters<Responder>[1]) =>
    refuse(response, 401, challenge === undefined ? {} : { headers: { 'WWW-Authenticate': challenge } });
  const respond: Responder = (request, response) => {
    if (request.path === '/sessions' && request.method === 'POST') {
      const { UserName, Password } = request.body as Record<string, string>;
      if (UserName !== CREDENTIALS.username || Password !== password) return denied(response);
      const token = `token-${++count}`;
      tokens.add(token);
      return sendJson(response, link(`/sessions/${count}`), {
        status: 201,
        headers: { 'X-Auth-Token': token, Location: `/sessions/${count}` },
      });
    }
    const isKnown =
      tokens.has(String(request.headers['x-auth-token'])) || (acceptsBasic && request.headers.authorization === basic);
    if (request.path.startsWith('/sessions/') && isKnown) return void response.writeHead(204).end();
    if (request.path !== '/redfish/v1/' && !isKnown) return denied(response);
    return serve({ ...SMALL, '/redfish/v1/': { ...SMALL['/redfish/v1/'], Links: { Sessions: link('/sessions') } } })(
      request,
      response,
    );
  };
  return { respond, expire: () => tokens.clear() };
}

async function start(rules: SessionRules) {
  const { respond, expire } = guarded(rules);
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const sent = (method: string) => service.requests.filter((request) => request.method === method).map(({ path }) => path);
  return { ...service, expire, sent, one: service.client({}, { credentials: CREDENTIALS }) };
}

describe('credentials', () => {
  it('are sent as basic authentication if the service accepts it, without a session', async () => {
    const { one, sent } = await start({ acceptsBasic: true });
    await one.inspect();
    expect(sent('POST')).toEqual([]);
  });

  it('create one session otherwise, which is reused, and ended by close', async () => {
    const { one, sent } = await start({});
    await Promise.all([one.inspect(), one.inspect()]);
    await one.inspect();
    expect(sent('POST')).toEqual(['/sessions']);
    await one.close();
    expect(sent('DELETE')).toEqual(['/sessions/1']);
  });

  it('create another session when the service has ended the former one', async () => {
    const { one, sent, expire } = await start({});
    await one.inspect();
    expire();
    await one.inspect();
    expect(sent('POST')).toEqual(['/sessions', '/sessions']);
  });

  it('that a service with basic authentication refuses are not sent again, because that could lock the account', async () => {
    const { one, sent, requests } = await start({ acceptsBasic: true, challenge: 'Basic realm="x"', password: 'other' });
    expect(await failureOf(one.inspect())).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(sent('POST')).toEqual([]);
    expect(requests.filter(({ headers }) => headers.authorization !== undefined).length).toBeLessThanOrEqual(2);
  });

  it('that cannot create a session are an error', async () => {
    const { one } = await start({ password: 'other' });
    expect(await failureOf(one.inspect())).toMatchObject({ code: 'unauthorized' });
  });

  it('that are missing although the service requires them are an error', async () => {
    const { client, sent } = await start({});
    expect(await failureOf(client().inspect())).toMatchObject({ code: 'unauthorized' });
    expect(sent('POST')).toEqual([]);
  });
});
