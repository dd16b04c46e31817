import { expect, it, onTestFinished } from 'vitest';
import { SMALL, sendJson, serve, startService } from './service-fixtures.js';

it('a task whose answers say Retry-After: 0 is waited for like any other: its success is a success, without hundreds of requests', async () => {
  const task = Promise.withResolvers<void>();
  let isDone = false;
  void task.promise.then(() => {
    isDone = true;
  });
  const service = await startService((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202, { Location: '/tasks/1', 'Retry-After': '0' }).end();
    if (request.path !== '/tasks/1') return serve(SMALL)(request, response);
    if (isDone) return void response.writeHead(204).end();
    return sendJson(response, { TaskState: 'Running' }, { status: 202, headers: { 'Retry-After': '0' } });
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  // A graceful action takes a few seconds.
  setTimeout(() => task.resolve(), 3_000);
  const outcome = await service
    .client({ taskPollMs: 1_000 })
    .reset('ForceRestart')
    .then(
      () => 'done',
      ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
    );
  const looks = service.requests.filter(({ path }) => path === '/tasks/1').length;
  expect({ outcome, areFew: looks < 50 }).toEqual({ outcome: 'done', areFew: true });
});
