import { expect, it, onTestFinished } from 'vitest';
import { failureOf, type Responder, SMALL, sendJson, serve, startService, withSystem } from './service-fixtures.js';

async function service(respond: Responder) {
  const started = await startService(respond);
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

it('a task whose monitor answers with the refusal of the action has failed', async () => {
  const { client } = await service((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202, { Location: '/monitor' }).end();
    if (request.path === '/monitor') return sendJson(response, { error: { message: 'power supply missing' } }, { status: 400 });
    return serve(SMALL)(request, response);
  });
  expect(await failureOf(client().reset('On'))).toMatchObject({ code: 'task-failed' });
});

it.each<[what: string, respond: (response: Parameters<Responder>[1]) => void]>([
  ['a lost connection', (response) => response.destroy()],
  ['HTTP 408', (response) => response.writeHead(408).end()],
  ['HTTP 423', (response) => response.writeHead(423).end()],
  ['HTTP 425', (response) => response.writeHead(425).end()],
  ['HTTP 429', (response) => response.writeHead(429).end()],
  ['HTTP 503', (response) => response.writeHead(503, { 'Retry-After': '0' }).end()],
])('looks at a task monitor that end with %s do not end the wait, and say nothing about the task', async (_, respond) => {
  // Two of them, because the client replaces a kept connection at once.
  let looks = 0;
  const { client } = await service((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202, { Location: '/monitor' }).end();
    if (request.path === '/monitor') return void (++looks <= 2 ? respond(response) : response.writeHead(204).end());
    return serve(SMALL)(request, response);
  });
  await client().reset('On');
  expect(looks).toBe(3);
});

it('an ActionInfo that cannot be read does not prevent an action whose types the system itself names', async () => {
  const target = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset';
  const reset = { target, 'ResetType@Redfish.AllowableValues': ['On', 'ForceOff'], '@Redfish.ActionInfo': '/missing' };
  const service = await startService(serve(withSystem({ Actions: { '#ComputerSystem.Reset': reset } })));
  onTestFinished(() => service[Symbol.asyncDispose]());
  await service.client().reset('ForceOff');
  expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
});
