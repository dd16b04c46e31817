import { expect, it, onTestFinished } from 'vitest';
import { SMALL, sendJson, serve, startService } from './service-fixtures.js';

it('a task whose answers say Retry-After: 0 is looked at no more often than any other, so that a call has requests enough for its end', async () => {
  const lookedAtMs: number[] = [];
  const service = await startService((request, response) => {
    if (request.method === 'POST') return void response.writeHead(202, { Location: '/tasks/1', 'Retry-After': '0' }).end();
    if (request.path !== '/tasks/1') return serve(SMALL)(request, response);
    if (lookedAtMs.push(performance.now()) === 4) return void response.writeHead(204).end();
    return sendJson(response, { TaskState: 'Running' }, { status: 202, headers: { 'Retry-After': '0' } });
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  await service.client({ taskPollMs: 100 }).reset('ForceRestart');
  // A timer may end a millisecond early.
  const [first, ...others] = lookedAtMs as [number, ...number[]];
  expect(others.map((atMs, index) => atMs - (lookedAtMs[index] ?? first)).every((gapMs) => gapMs > 90)).toBe(true);
});
