import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { RedfishClient } from './client/redfish-client.js';
import type { RedfishErrorCode } from './error/redfish-error.js';
import { AnswerMemory } from './http/answer-memory.js';
import { MOST_REQUESTS, MOST_VALUES_OF_ANSWER } from './http/call.js';
import { MOST_OF_BODY } from './http/exchange.js';
import {
  CREDENTIALS,
  collection,
  createAuthority,
  failureOf,
  link,
  logPages,
  type Responder,
  refuse,
  SMALL,
  sendJson,
  serve,
  startService,
  startTlsService,
  type TestAuthority,
  type TestService,
  withLog,
  withSystem,
} from './service-fixtures.js';

async function service(respond: Responder): Promise<TestService> {
  const started = await startService(respond);
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);
beforeAll(() => void process.on('unhandledRejection', onRejection));
afterAll(() => {
  process.off('unhandledRejection', onRejection);
  expect(rejections).toEqual([]);
});

const GET = { method: 'GET', headers: {}, body: undefined };
const nested = (depth: number) => '{"a":['.repeat(depth) + ']}'.repeat(depth);

describe('a service that answers', () => {
  const raw =
    (text: string, type = 'application/json'): Responder =>
    (_, response) =>
      void response.writeHead(200, { 'Content-Type': type }).end(text);

  it.each<[what: string, respond: Responder, code: RedfishErrorCode, text: string | RegExp]>([
    ['HTML', raw('<html>login</html>', 'text/html; charset=utf-8'), 'not-redfish', 'the answer is not JSON (text/html)'],
    ['half of a JSON text', raw('{"Systems": '), 'not-redfish', 'not JSON'],
    ['a list', raw('[]'), 'not-redfish', 'JSON that is not an object'],
    ['nothing', raw(''), 'not-redfish', 'an answer without content'],
    ['an object of something else', raw('{"hello": 1}'), 'not-redfish', 'names neither systems nor managers'],
    ['fields of other types', raw('{"Systems": [], "Managers": "none"}'), 'not-redfish', 'names neither systems nor managers'],
    ['objects 10,000 deep', raw(nested(5_000)), 'too-large', 'nested too deeply'],
    ['5 MiB', raw(`{"x": "${'x'.repeat(5 * 1_024 * 1_024)}"}`), 'too-large', `more than ${MOST_OF_BODY} octets`],
    ['HTTP 401', (_, response) => refuse(response, 401), 'unauthorized', 'HTTP 401'],
    ['HTTP 403', (_, response) => refuse(response, 403, { message: 'no privilege' }), 'forbidden', 'HTTP 403: no privilege'],
    ['HTTP 404', (_, response) => refuse(response, 404), 'not-found', 'HTTP 404'],
    ['HTTP 405', (_, response) => refuse(response, 405), 'not-allowed', 'HTTP 405'],
    ['HTTP 412', (_, response) => refuse(response, 412), 'precondition-failed', 'HTTP 412'],
    ['HTTP 418', (_, response) => refuse(response, 418), 'refused', 'HTTP 418'],
    ['HTTP 500', (_, response) => refuse(response, 500), 'server-failed', 'HTTP 500'],
    [
      'HTTP 503',
      (_, response) => refuse(response, 503, { message: 'busy', headers: { 'Retry-After': '30' } }),
      'unavailable',
      'HTTP 503: busy; try again in 30 seconds',
    ],
    [
      'a redirection to another server',
      (_, response) => void response.writeHead(302, { Location: 'http://192.0.2.1/' }).end(),
      'redirected',
      'leads to another server',
    ],
    [
      'a redirection to itself',
      (_, response) => void response.writeHead(301, { Location: '/redfish/v1/' }).end(),
      'redirected',
      'more than 3 redirections',
    ],
    ['by ending the connection', (_, response) => void response.socket?.destroy(), 'connection-lost', 'ECONNRESET'],
    [
      'a part, and ends the connection',
      (_, response) => {
        response.writeHead(200, { 'Content-Length': '1000' }).write('{"Systems"');
        setImmediate(() => response.socket?.resetAndDestroy());
        return undefined;
      },
      'connection-lost',
      /connection|ECONN/,
    ],
    [
      'with a control sequence of a terminal',
      (_, response) => refuse(response, 400, { message: 'bad\u001b[31m\nvalue' }),
      'refused',
      'HTTP 400: bad [31m value',
    ],
  ])('%s', async (_, respond, code, text) => {
    const { client, target } = await service(respond);
    const error = await failureOf(client().inspect());
    expect(error).toMatchObject({ name: 'RedfishError', code });
    expect(error.message).toMatch(text);
    expect(error.message).toContain(`GET /redfish/v1/`);
    expect(error.message.includes(`127.0.0.1:${target.port}`) || code === 'not-redfish').toBe(true);
  });

  it('with Retry-After has the time in the error', async () => {
    const { client } = await service((_, response) => refuse(response, 503, { headers: { 'Retry-After': '120' } }));
    expect(await failureOf(client().inspect())).toMatchObject({ status: 503, retryAfterMs: 120_000, isPassing: true });
  });

  it('no HTTP at all', async () => {
    const { client } = await service((_, response) => {
      response.socket?.end('220 ready\r\n');
      return undefined;
    });
    expect(await failureOf(client().inspect())).toMatchObject({ code: 'not-redfish' });
  });
});

describe('a service that never ends', () => {
  it('to answer: the deadline of the call ends it', async () => {
    const { client } = await service(() => undefined);
    expect(await failureOf(client({ timeoutMs: 50 }).inspect())).toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('no complete answer within 0.05 seconds') as string,
    });
  });

  it('to send one octet after the other: the deadline of the call ends it', async () => {
    const { client } = await service((_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(timer));
      return undefined;
    });
    expect(await failureOf(client({ timeoutMs: 80 }).inspect())).toMatchObject({ code: 'timeout' });
  });

  it('its task: a call that ends while it waits ends at once, and nothing is repeated', async () => {
    const controller = new AbortController();
    const { client, requests } = await service((request, response) => {
      if (request.path === '/tasks/1') setImmediate(() => controller.abort());
      if (request.method === 'POST' || request.path === '/tasks/1')
        return void response
          .writeHead(202, { Location: '/tasks/1', ...(request.method === 'GET' && { 'Retry-After': '60' }) })
          .end();
      return serve(SMALL)(request, response);
    });
    expect(await failureOf(client().reset('On', { signal: controller.signal }))).toMatchObject({ code: 'aborted' });
    expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  it.each<[what: string, page: (turn: number) => string, code: RedfishErrorCode]>([
    ['pages that form a circle', (turn) => `/redfish/v1/Systems?page=${(turn + 1) % 3}`, 'not-redfish'],
    ['members that are members of each other', () => '/redfish/v1/Systems', 'not-redfish'],
  ])('%s', async (_, page, code) => {
    let turn = 0;
    const { client } = await service(({ path }, response) => {
      if (!path.startsWith('/redfish/v1/Systems')) return SMALL[path] ?? refuse(response, 404);
      return { Members: [link('/redfish/v1/Systems')], 'Members@odata.nextLink': page(turn++) };
    });
    expect(await failureOf(client().inspect())).toMatchObject({ code });
  });

  it('to send large answers: a call has a limit for all of them', async () => {
    const large = 'x'.repeat(900_000);
    const { client, requests } = await service(({ path }, response) =>
      path === '/redfish/v1/Systems'
        ? collection(...Array.from({ length: 50 }, (_, index) => `/redfish/v1/Systems/${index}`))
        : (SMALL[path] ?? (path.startsWith('/redfish/v1/Systems/') ? { Id: path, large } : refuse(response, 404))),
    );
    expect(await failureOf(client().inspect())).toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('all answers together') as string,
    });
    expect(requests.length).toBeLessThan(25);
  });

  it('to send values: an answer has a limit, however few octets they have', async () => {
    const values = `{"@odata.id": "/redfish/v1/Systems/1", "x": [${'{},'.repeat(MOST_VALUES_OF_ANSWER / 2)}0]}`;
    const { client } = await service(({ path }, response) =>
      path === '/redfish/v1/Systems/1' ? void response.writeHead(200).end(values) : serve(SMALL)({ ...GET, path }, response),
    );
    expect(await failureOf(client().inspect())).toMatchObject({
      code: 'too-large',
      message: expect.stringContaining(`the answer has more than ${MOST_VALUES_OF_ANSWER} values`) as string,
    });
  });

  it('to send values: a call has a limit for all answers', async () => {
    const values = Array.from({ length: MOST_VALUES_OF_ANSWER / 3 }, () => ({}));
    const { client, requests } = await service((request, response) =>
      request.path === '/redfish/v1/Systems'
        ? collection(...Array.from({ length: 50 }, (_, index) => `/redfish/v1/Systems/${index}`))
        : request.path.startsWith('/redfish/v1/Systems/')
          ? { Id: request.path, values }
          : serve(SMALL)(request, response),
    );
    expect(await failureOf(client().inspect())).toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('all answers together') as string,
    });
    expect(requests.length).toBeLessThan(15);
  });

  it('to list members: the requests of a call are limited', async () => {
    const { client, requests } = await service(({ path }, response) =>
      path === '/redfish/v1/Systems'
        ? collection(...Array.from({ length: 5_000 }, (_, index) => `/redfish/v1/Systems/${index}`))
        : (SMALL[path] ?? (path.startsWith('/redfish/v1/Systems/') ? { Id: path } : refuse(response, 404))),
    );
    expect(await failureOf(client().inspect())).toMatchObject({ code: 'too-large' });
    expect(requests.length).toBeLessThanOrEqual(MOST_REQUESTS);
  });
});

describe('services that send too much at the same time', () => {
  it('the call with the largest answers ends, and the others go on', async () => {
    const memory = new AnswerMemory(1_000_000, 50);
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const greedy = await service((request, response) => {
      if (request.path !== '/redfish/v1/Systems/1') return serve(SMALL)(request, response);
      response.writeHead(200).write(`{"x": "${'x'.repeat(900_000)}`);
      return undefined;
    });
    const modest = await service((request, response) => {
      if (request.path !== '/redfish/v1/Managers/1') return serve(SMALL)(request, response);
      asked.resolve();
      void released.promise.then(() => sendJson(response, { FirmwareVersion: 'x'.repeat(200_000) }));
      return undefined;
    });
    const [large, small] = [greedy.client({ memory }).inspect(), modest.client({ memory }).inspect()];
    await asked.promise;
    await vi.waitFor(() => expect(memory.total).toBeGreaterThan(900_000));
    released.resolve();
    expect(await failureOf(large)).toMatchObject({ code: 'memory-used-up', isPassing: true });
    expect((await small).info['PowerState']).toBe('On');
    expect(memory.total).toBe(0);
  });

  it('the memory of an answer is returned after it was read: many hosts with long logs at the same time', async () => {
    const hosts = 40;
    const memory = new AnswerMemory(hosts * 100_000, 5_000);
    const pages = logPages(10, 20);
    let atEnd = 0;
    const all = Promise.withResolvers<void>();
    const { client } = await service((request, response) => {
      if (request.path !== '/entries?page=9') return serve(withLog(pages))(request, response);
      if (++atEnd === hosts) all.resolve();
      void all.promise.then(() => sendJson(response, pages['/entries?page=9'] as object));
      return undefined;
    });
    expect(JSON.stringify(pages).length, 'a log is larger than the share of one host').toBeGreaterThan(150_000);
    const reports = await Promise.all(Array.from({ length: hosts }, () => client({ memory }).inspect()));
    expect(reports.map(({ log }) => log?.length)).toEqual(reports.map(() => 200));
    expect(memory.total).toBe(0);
  });

  it('a connection that ends while its answer waits for memory is lost', async () => {
    const memory = new AnswerMemory(10_000, 60_000);
    const { client } = await service((request, response) => {
      if (request.path !== '/redfish/v1/Systems/1') return serve(SMALL)(request, response);
      response.writeHead(200, { 'Content-Length': '3000' }).write('{');
      setTimeout(() => response.destroy(), 20);
      setTimeout(() => memory.release(other), 200);
      return undefined;
    });
    const other = { end: () => undefined };
    await memory.hold(other, 8_000);
    expect(await failureOf(client({ memory: new AnswerMemory() }).inspect())).toMatchObject({ code: 'connection-lost' });
    expect(await failureOf(client({ memory }).inspect())).toMatchObject({ code: 'connection-lost' });
  });

  it('calls wait for memory that another one returns', async () => {
    const memory = new AnswerMemory(150_000, 20_000);
    const { client } = await service(serve(withSystem({ Oem: 'x'.repeat(100_000) })));
    const reports = await Promise.all(Array.from({ length: 10 }, () => client({ memory }).inspect()));
    expect(reports.map(({ info }) => info['PowerState'])).toEqual(reports.map(() => 'On'));
    expect(memory.total).toBe(0);
  });

  it('a call that waited for memory until its deadline does not count as a timeout of its service', async () => {
    const memory = new AnswerMemory(1_000, 20_000);
    const other = { end: () => undefined };
    await memory.hold(other, 1_000);
    const { client } = await service(serve(SMALL));
    expect(await failureOf(client({ memory, timeoutMs: 1_000 }).inspect())).toMatchObject({
      code: 'memory-used-up',
      message: expect.stringMatching(/this client, not the service, has no memory left .* try again later/) as string,
    });
    expect(memory.total).toBe(1_000);
  });

  it.each<[what: string, answer: (response: ServerResponse) => void]>([
    ['is not JSON', (response) => response.end('x'.repeat(5_000))],
    ['is a refusal', (response) => refuse(response, 500, { message: 'x'.repeat(5_000) })],
    ['has too many values', (response) => response.end(`[${'{},'.repeat(MOST_VALUES_OF_ANSWER)}0]`)],
    ['has too many octets', (response) => response.end('x'.repeat(MOST_OF_BODY + 1))],
  ])('an answer that %s keeps no memory', async (_, answer) => {
    const memory = new AnswerMemory();
    const totals: number[] = [];
    const { client } = await service((request, response) => {
      if (request.path === '/logs') totals.push(memory.total);
      if (request.path === '/memory') return void answer(response);
      return serve(withLog(logPages(1, 1), { Memory: link('/memory') }))(request, response);
    });
    const { info } = await client({ memory }).inspect();
    expect(info['Incomplete']).toMatch(/^Memory: /);
    expect(totals[0]).toBeLessThan(2_000);
  });

  it('an ended call holds nothing, whatever arrives later', async () => {
    const memory = new AnswerMemory();
    const { client } = await service((request, response) => {
      if (request.path !== '/redfish/v1/Systems/1') return serve(SMALL)(request, response);
      response.writeHead(200).write('{"x": "');
      const timer = setInterval(() => response.write('x'.repeat(1_000)), 1);
      response.on('close', () => clearInterval(timer));
      return undefined;
    });
    const controller = new AbortController();
    const call = client({ memory }).inspect({ signal: controller.signal });
    await vi.waitFor(() => expect(memory.total).toBeGreaterThan(2_000));
    controller.abort();
    expect(await failureOf(call)).toMatchObject({ code: 'aborted' });
    expect(memory.total).toBe(0);
  });
});

describe('errors that are not the fault of the service', () => {
  it('a port where nothing listens', async () => {
    const { client, target } = await service(serve(SMALL));
    const error = await failureOf(client({}, { port: 1 }).inspect());
    expect(error).toMatchObject({ code: 'unreachable', isPassing: true });
    expect(error.message).toBe(`GET /redfish/v1/ of ${target.host}:1: nothing listens there (ECONNREFUSED)`);
  });

  it('a name that does not exist', async () => {
    const { client } = await service(serve(SMALL));
    expect(await failureOf(client({}, { host: 'bmc.invalid' }).inspect())).toMatchObject({ code: 'unreachable' });
  });

  it('a call that the caller ends, before and while it runs', async () => {
    const { client, requests } = await service(() => undefined);
    const one = client();
    expect(await failureOf(one.inspect({ signal: AbortSignal.abort() }))).toMatchObject({ code: 'aborted' });
    const controller = new AbortController();
    const call = one.inspect({ signal: controller.signal });
    await vi.waitFor(() => expect(requests.length).toBeGreaterThan(0));
    controller.abort();
    expect(await failureOf(call)).toMatchObject({ code: 'aborted', isPassing: false });
  });

  it.each(['close', 'signal'] as const)('a client that is closed by %s: open and later calls', async (how) => {
    const { client, requests } = await service(() => undefined);
    const controller = new AbortController();
    const one = client({ signal: controller.signal });
    const call = one.reset('On');
    await vi.waitFor(() => expect(requests.length).toBeGreaterThan(0));
    if (how === 'close') void one.close();
    else controller.abort();
    expect(await failureOf(call)).toMatchObject({ code: 'closed' });
    expect(await failureOf(one.inspect())).toMatchObject({ code: 'closed' });
    await one.close();
  });

  it.each<[what: string, target: object, text: string]>([
    ['a host', { host: 'a/b@c' }, 'host is neither an address nor a DNS name'],
    ['a port', { port: 70_000 }, 'port is not a number'],
    ['credentials with a line break', { credentials: { username: 'u', password: 'hidden\n' } }, 'control character'],
    ['a user name with a colon', { credentials: { username: 'u:v', password: 'hidden' } }, 'colon'],
    ['an authority', { https: true, clientCertificate: { key: 'hidden', certificate: 'hidden' } }, 'cannot be read as PEM'],
  ])('an invalid %s', (_, changed, text) => {
    let error: unknown;
    try {
      new RedfishClient({ host: '127.0.0.1', port: 443, https: false, ...changed }, { timeoutMs: 1_000 });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'invalid-target', message: expect.stringContaining(text) as string });
    expect(inspect(error)).not.toContain('hidden');
  });
});

describe('TLS', () => {
  let authority: TestAuthority;
  beforeAll(async () => {
    authority = await createAuthority();
  });
  const secure = async (tls: object, target: object) => {
    const started = await startTlsService(serve(SMALL), tls, target);
    onTestFinished(() => started[Symbol.asyncDispose]());
    return started;
  };

  it.each<[what: string, how: () => Promise<[tls: object, target: object]>, text: string]>([
    ['an unknown authority', async () => [await authority.issue(), {}], 'is not trusted: name that authority'],
    [
      'another authority',
      async () => [await (await createAuthority()).issue(), { authorities: authority.certificate }],
      'is not trusted',
    ],
    ['another name', async () => [await authority.issue('other.test'), { authorities: authority.certificate }], 'another name'],
    [
      'its address and no name',
      async () => [await authority.issue(), { authorities: authority.certificate, serverName: '127.0.0.1' }],
      'another name',
    ],
    [
      'a certificate that expired',
      async () => [await authority.issue('bmc.test', Date.now() - 1_000), { authorities: authority.certificate }],
      'has expired',
    ],
  ])('refuses %s', async (_, how, text) => {
    const [tls, target] = await how();
    const { client } = await secure(tls, target);
    const error = await failureOf(client().inspect());
    expect(error).toMatchObject({ code: 'tls-failed', isPassing: false });
    expect(error.message).toContain(text);
  });

  it('accepts the given authority, and any certificate with verify: false', async () => {
    const { client } = await secure(await authority.issue(), {});
    await expect(client({}, { authorities: authority.certificate }).inspect()).resolves.toBeDefined();
    await expect(client({}, { verify: false }).inspect()).resolves.toBeDefined();
  });

  it('identifies itself with a client certificate if the service requires one', async () => {
    const tls = { ...(await authority.issue()), ca: authority.certificate, requestCert: true, rejectUnauthorized: true };
    const { client } = await secure(tls, { authorities: authority.certificate });
    const { key, cert } = await authority.issue('client');
    await expect(client({}, { clientCertificate: { key, certificate: cert } }).inspect()).resolves.toBeDefined();
    expect((await failureOf(client().inspect())).code).toMatch(/tls-failed|connection-lost/);
  });

  it('to a service without TLS', async () => {
    const { client } = await service(serve(SMALL));
    expect(await failureOf(client({}, { https: true }).inspect())).toMatchObject({ code: 'tls-failed' });
  });
});

describe('credentials are never shown', () => {
  const everything = `${CREDENTIALS.password} ${CREDENTIALS.username} ${Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString('base64')}`;

  it('by a service that repeats them in its refusal', async () => {
    const { client } = await service((_, response) =>
      refuse(response, 401, { message: everything, headers: { 'WWW-Authenticate': 'Basic' } }),
    );
    const error = await failureOf(client({}, { credentials: CREDENTIALS }).inspect());
    expect(error.message).toContain('HTTP 401: *** *** ***');
    for (const secret of everything.split(' '))
      expect(`${inspect(error, { depth: 9, showHidden: true })} ${error.stack}`).not.toContain(secret);
  });

  it('by a task that repeats them, by types that a system offers, or by a part', async () => {
    const actions = { '#ComputerSystem.Reset': { target: '/reset', 'ResetType@Redfish.AllowableValues': [everything, 'On'] } };
    const { client } = await service((request, response) => {
      if (request.path === '/redfish/v1/Systems/1/Memory') return refuse(response, 500, { message: everything });
      if (request.path === '/task') return { TaskState: 'Exception', Messages: [{ Message: everything }] };
      if (request.method === 'POST') return void response.writeHead(202, { Location: '/task' }).end();
      return serve(withSystem({ Actions: actions, Memory: link('/redfish/v1/Systems/1/Memory') }))(request, response);
    });
    const one = client({}, { credentials: CREDENTIALS });
    const [task, type, report] = [await failureOf(one.reset('On')), await failureOf(one.reset('ForceOn')), await one.inspect()];
    expect([task.code, type.code]).toEqual(['task-failed', 'unsupported']);
    const shown = inspect([task, type, task.stack, type.stack, report], { depth: 9, showHidden: true });
    for (const secret of everything.split(' ')) expect(shown).not.toContain(secret);
  });

  const password = 'Pass  word-1';
  const basic = (username: string) => Buffer.from(`${username}:${password}`).toString('base64');

  it.each<[what: string, text: string, shown: string]>([
    ['the password', `x ${password} y`, 'x *** y'],
    ['the password in small letters', password.toLowerCase(), '***'],
    ['both', `operator:${password}`, '***'],
    ['the header', `Authorization: Basic ${basic('operator')}`, 'Authorization: Basic ***'],
    ['the password as a Secret has it', Buffer.from(password).toString('base64'), '***'],
    ['the password where the text is cut', `${'x'.repeat(249)} ${password}`, `${'x'.repeat(249)} ***`],
    ['the password within another word', `x${password}y`, `x${password.replace('  ', ' ')}y`],
    ['the user name alone, which is not secret', 'User operator logged in', 'User operator logged in'],
  ])('by a service that reports %s', async (_, text, shown) => {
    const { client } = await service(
      serve(
        withSystem(
          { BiosVersion: text, LogServices: link('/logs') },
          {
            '/logs': collection('/logs/1'),
            '/logs/1': { ...link('/logs/1'), Entries: link('/entries') },
            '/entries': { Members: [{ Id: text, Created: text, Severity: text, Message: text }] },
          },
        ),
      ),
    );
    const { info, log } = await client({}, { credentials: { username: 'operator', password } }).inspect();
    expect(info['BiosVersion']).toBe(shown);
    expect(log?.map(({ message }) => message)).toEqual([shown]);
  });

  it.each<[password: string, value: string, shown: string]>([
    ['admin', 'administrator logged in, admin too', 'administrator logged in, admin too'],
    ['admin', 'admin', '***'],
    ['admin', `Basic ${Buffer.from('operator:admin').toString('base64')}`, 'Basic ***'],
    ['1', '16384', '16384'],
    ['1', 'CPU 1 failed', 'CPU 1 failed'],
    ['administrator', 'Administrator logged in', '*** logged in'],
    ['administrator', 'administrators_2', 'administrators_2'],
    ['$ecret-1', 'x$ecret-1 y', 'x*** y'],
    ['passwört1', 'passwört1, passwört12', '***, passwört12'],
  ])('and words that contain the password %j stay: %j', async (word, value, shown) => {
    const entry = { Id: word, Created: `2026-01-01T00:00:0${word}`, Severity: word, Message: value };
    const { client } = await service(serve(withLog({ '/entries': { Members: [entry] } }, { BiosVersion: value })));
    const { info, log } = await client({}, { credentials: { username: 'operator', password: word } }).inspect();
    expect(info['BiosVersion']).toBe(shown);
    expect(log).toEqual([{ id: word, time: entry.Created, severity: word, message: shown }]);
  });

  it('by a service whose refusal repeats a password with two spaces', async () => {
    const { client } = await service((_, response) => refuse(response, 400, { message: `${'x'.repeat(295)}${password}` }));
    const error = await failureOf(client({}, { credentials: { username: 'operator', password } }).inspect());
    expect(error.message).toContain('HTTP 400: xxx');
    expect(error.message).toMatch(/x\*\*\*$/);
  });

  it('by a service that reports the token of its session', async () => {
    const { client } = await service((request, response) => {
      if (request.method === 'POST')
        return sendJson(response, {}, { status: 201, headers: { 'X-Auth-Token': 'token-12', Location: '/sessions/1' } });
      if (request.headers['x-auth-token'] === undefined) return refuse(response, 401);
      return serve(withSystem({ BiosVersion: 'has token-12' }))(request, response);
    });
    const { info } = await client({}, { credentials: CREDENTIALS }).inspect();
    expect(info['BiosVersion']).toBe('has ***');
  });

  it('by the client itself, however it is printed', async () => {
    const { client } = await service(serve(withSystem({})));
    const one = client({}, { credentials: CREDENTIALS });
    await one.inspect();
    const texts = [inspect(one, { depth: 9, showHidden: true }), JSON.stringify(one), inspect([one])].join(' ');
    for (const secret of everything.split(' ')) expect(texts).not.toContain(secret);
  });
});
