import { describe, expect, it, onTestFinished } from 'vitest';
import {
  collection,
  failureOf,
  link,
  type Responder,
  refuse,
  SMALL,
  sendJson,
  serve,
  startService,
  withSystem,
} from './service-fixtures.js';

const SYSTEM = '/redfish/v1/Systems/1';
const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;

async function service(respond: Responder) {
  const started = await startService(respond);
  onTestFinished(() => started[Symbol.asyncDispose]());
  const changes = () => started.requests.filter(({ method }) => method !== 'GET');
  return { ...started, one: started.client(), changes };
}

const RESET_ACTION = (fields: object) => ({ Actions: { '#ComputerSystem.Reset': { target: RESET, ...fields } } });

/** A service with several systems, each of which can be reset. */
function withSystems(paths: readonly string[]): Readonly<Record<string, object>> {
  const systems = paths.map((path) => [
    path,
    { ...link(path), Actions: { '#ComputerSystem.Reset': { target: `${path}/reset` } } },
  ]);
  return { ...SMALL, '/redfish/v1/Systems': collection(...paths), ...Object.fromEntries(systems) };
}

describe('a power action', () => {
  it('is sent to every system', async () => {
    const second = '/redfish/v1/Systems/2';
    const resources = {
      ...SMALL,
      '/redfish/v1/Systems': collection(SYSTEM, second),
      [second]: { ...link(second), Actions: { '#ComputerSystem.Reset': { target: `${second}/reset` } } },
    };
    const { one, changes } = await service(serve(resources));
    await one.reset('ForceOff');
    expect(changes().map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', RESET, { ResetType: 'ForceOff' }],
      ['POST', `${second}/reset`, { ResetType: 'ForceOff' }],
    ]);
  });

  it('is not sent if the caller is no longer allowed to change anything', async () => {
    const second = '/redfish/v1/Systems/2';
    const { one, changes } = await service(
      serve({
        ...SMALL,
        '/redfish/v1/Systems': collection(SYSTEM, second),
        [second]: { ...link(second), Actions: { '#ComputerSystem.Reset': { target: `${second}/reset` } } },
      }),
    );
    let asked = 0;
    const error = await failureOf(one.reset('ForceOff', { mayChange: () => asked++ === 0 }));
    expect(changes().map(({ path }) => path)).toEqual([RESET]);
    expect([error.code, asked]).toEqual(['aborted', 2]);
  });

  it.each<[what: string, resources: Readonly<Record<string, object>>, text: string]>([
    [
      'a type that is not offered',
      SMALL,
      `${SYSTEM}: it does not offer reset type ForceOn; it offers On, ForceOff, ForceRestart`,
    ],
    [
      'a type that the ActionInfo does not have',
      withSystem(RESET_ACTION({ '@Redfish.ActionInfo': '/info' }), {
        '/info': { Parameters: [{ Name: 'ResetType', AllowableValues: ['On'] }] },
      }),
      'it offers On',
    ],
    ['a system without the action', withSystem({ Actions: {} }), 'it has no reset action'],
    ['a service without systems', { ...SMALL, '/redfish/v1/Systems': { Members: [] } }, 'the service has no computer system'],
  ])('is refused without a request: %s', async (_, resources, text) => {
    const { one, changes } = await service(serve(resources));
    const error = await failureOf(one.reset('ForceOn'));
    expect(error.code).toBe('unsupported');
    expect(error.message).toContain(text);
    expect(changes()).toEqual([]);
  });

  it('is left to a service that does not name its types', async () => {
    const { one, changes } = await service(serve(withSystem(RESET_ACTION({}))));
    await one.reset('GracefulRestart');
    expect(changes()).toHaveLength(1);
  });

  it('still reaches the other systems if one fails, and names them', async () => {
    const systems = ['/redfish/v1/Systems/1', '/redfish/v1/Systems/2', '/redfish/v1/Systems/3'];
    const all = withSystems(systems);
    const { one, changes } = await service((request, response) =>
      request.path === `${systems[1]}/reset`
        ? refuse(response, 500, { message: 'the fan is broken' })
        : serve(all)(request, response),
    );
    const error = await failureOf(one.reset('On'));
    expect(error).toMatchObject({ code: 'server-failed', message: expect.stringContaining('1 of 3 systems') as string });
    expect(error.message).toContain('the fan is broken');
    expect(changes()).toHaveLength(3);
  });

  it('has an unknown outcome if that of one system is unknown, although another one refused it', async () => {
    const systems = ['/redfish/v1/Systems/1', '/redfish/v1/Systems/2'];
    const all = withSystems(systems);
    const { one } = await service((request, response) => {
      if (request.path === `${systems[0]}/reset`) return refuse(response, 500);
      return request.path === `${systems[1]}/reset`
        ? void response.writeHead(202, { Location: 'http://192.0.2.1/t' }).end()
        : serve(all)(request, response);
    });
    expect(await failureOf(one.reset('On'))).toMatchObject({ code: 'outcome-unknown' });
  });

  it('is not repeated when the connection ends: the service may have carried it out', async () => {
    const { one, changes } = await service((request, response) =>
      request.method === 'POST' ? void response.socket?.destroy() : serve(SMALL)(request, response),
    );
    expect(await failureOf(one.reset('On'))).toMatchObject({ code: 'connection-lost' });
    expect(changes()).toHaveLength(1);
  });
});

describe('a task', () => {
  const task = (looks: readonly ((response: Parameters<Responder>[1]) => object | undefined)[]): Responder => {
    let look = 0;
    return (request, response) => {
      if (request.method === 'POST') return void response.writeHead(202, { Location: '/tasks/1/monitor' }).end();
      if (request.path !== '/tasks/1/monitor') return serve(SMALL)(request, response);
      return (looks[look++] ?? (() => refuse(response, 404)))(response);
    };
  };

  it.each<[what: string, respond: Responder]>([
    [
      'whose monitor answers 202, then 204',
      task([(response) => sendJson(response, {}, { status: 202 }), (response) => void response.writeHead(204).end()]),
    ],
    [
      'whose monitor answers with the task',
      task([() => ({ TaskState: 'Running' }), () => ({ TaskState: 'Completed', TaskStatus: 'OK' })]),
    ],
    [
      'without a monitor',
      (request, response) => (request.method === 'POST' ? void response.writeHead(202).end() : serve(SMALL)(request, response)),
    ],
  ])('%s is waited for', async (_, respond) => {
    const { one } = await service(respond);
    await expect(one.reset('On')).resolves.toBeUndefined();
  });

  it('that fails is an error with its message', async () => {
    const { one } = await service(task([() => ({ TaskState: 'Exception', Messages: [{ Message: 'power budget exceeded' }] })]));
    const error = await failureOf(one.reset('On'));
    expect(error).toMatchObject({ code: 'task-failed' });
    expect(error.message).toContain('the task ended as Exception: power budget exceeded');
  });

  it('whose monitor is on another server is not followed', async () => {
    const { one } = await service((request, response) =>
      request.method === 'POST'
        ? void response.writeHead(202, { Location: 'http://192.0.2.1/t' }).end()
        : serve(SMALL)(request, response),
    );
    expect(await failureOf(one.reset('On'))).toMatchObject({ code: 'outcome-unknown' });
  });
});

describe('one boot from the network', () => {
  const patched = (mode?: string) => ({
    Boot: { BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe', ...(mode && { BootSourceOverrideMode: mode }) },
  });

  it.each([
    ['a system that does not name its mode', undefined, patched()],
    ['a system that boots by UEFI', 'UEFI', patched('UEFI')],
    ['a legacy system', 'Legacy', patched()],
  ])('%s', async (_, mode, body) => {
    const boot = {
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
      ...(mode && { BootSourceOverrideMode: mode }),
    };
    const { one, changes } = await service(serve(withSystem({ Boot: boot })));
    await one.bootOnceFromNetwork();
    expect(changes().map(({ method, path, body: sent }) => [method, path, sent])).toEqual([['PATCH', SYSTEM, body]]);
  });

  it.each([
    [
      'targets',
      { 'BootSourceOverrideTarget@Redfish.AllowableValues': ['Hdd', 'Cd'] },
      'it does not offer boot target Pxe; it offers Hdd, Cd',
    ],
    ['times', { 'BootSourceOverrideEnabled@Redfish.AllowableValues': ['Continuous'] }, 'it does not offer boot override Once'],
  ])('that a system does not have among its %s is refused', async (_, boot, text) => {
    const { one, changes } = await service(serve(withSystem({ Boot: boot })));
    expect(await failureOf(one.bootOnceFromNetwork())).toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(text) as string,
    });
    expect(changes()).toEqual([]);
  });

  it('that a system does not have at all is refused', async () => {
    const { Boot: _, ...system } = SMALL[SYSTEM] as Record<string, unknown>;
    const { one } = await service(serve({ ...SMALL, [SYSTEM]: system }));
    expect(await failureOf(one.bootOnceFromNetwork())).toMatchObject({ code: 'unsupported' });
  });

  /** A service that requires If-Match with the current tag, and changes the tag before the `turns`-th PATCH. */
  function tagged(turns: number, tags: { header?: boolean; weak?: boolean } = {}): Responder {
    let [version, patches] = [1, 0];
    return (request, response) => {
      if (request.path !== SYSTEM) return serve(SMALL)(request, response);
      const tag = `"${version}"`;
      const shown = tags.weak ? `W/${tag}` : tag;
      if (request.method === 'GET') {
        const body = { ...SMALL[SYSTEM], ...(!tags.header && { '@odata.etag': shown }) };
        return sendJson(response, body, tags.header ? { headers: { ETag: shown } } : {});
      }
      if (++patches < turns) version++;
      return request.headers['if-match'] === `"${version}"` ? void response.writeHead(204).end() : refuse(response, 412);
    };
  }

  it.each<[what: string, respond: Responder]>([
    ['an ETag of the header', tagged(1, { header: true })],
    ['an ETag of the body', tagged(1)],
    ['an ETag that changed meanwhile', tagged(2)],
    ['a weak ETag that the service does not accept as it gave it', tagged(1, { weak: true })],
  ])('with %s', async (_, respond) => {
    const { one } = await service(respond);
    await expect(one.bootOnceFromNetwork()).resolves.toBeUndefined();
  });

  it('with an ETag that changes each time is refused', async () => {
    const { one, changes } = await service(tagged(9));
    expect(await failureOf(one.bootOnceFromNetwork())).toMatchObject({ code: 'precondition-failed', isPassing: true });
    expect(changes()).toHaveLength(2);
  });
});
