/** Several calls of one client share one login: the end of one call must not fail the others. */
import { expect, it, onTestFinished } from 'vitest';
import { CREDENTIALS, link, type Responder, refuse, SMALL, sendJson, serve, startService } from './service-fixtures.js';

it('a power action is carried out although the poll that began the login of the session was ended meanwhile', async () => {
  const loginArrived = Promise.withResolvers<void>();
  const answerLogin = Promise.withResolvers<void>();
  const actionWaits = Promise.withResolvers<void>();
  let refused = 0;
  const respond: Responder = (request, response) => {
    if (request.path === '/sessions' && request.method === 'POST') {
      loginArrived.resolve();
      void answerLogin.promise.then(() =>
        sendJson(response, link('/sessions/1'), { status: 201, headers: { 'X-Auth-Token': 'token-1', Location: '/sessions/1' } }),
      );
      return undefined;
    }
    if (request.path !== '/redfish/v1/' && request.headers['x-auth-token'] !== 'token-1') {
      if (++refused === 2) actionWaits.resolve();
      return refuse(response, 401);
    }
    return serve({ ...SMALL, '/redfish/v1/': { ...SMALL['/redfish/v1/'], Links: { Sessions: link('/sessions') } } })(
      request,
      response,
    );
  };
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const client = service.client({}, { credentials: CREDENTIALS });
  const poll = new AbortController();
  const polled = client.inspect({ signal: poll.signal }).catch(({ code }: { code: string }) => code);
  await loginArrived.promise;
  const action = client.reset('ForceOff').then(
    () => 'done',
    ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
  );
  // The action was refused with 401 too, and waits for the login as soon as it has read that. Nothing tells when: if it is later, this shows less.
  await actionWaits.promise;
  await new Promise((resolve) => setTimeout(resolve, 50));
  // The poll ends, because its Secret was touched, or its twenty seconds are over.
  poll.abort();
  answerLogin.resolve();
  expect(await polled).toBe('aborted');
  expect(await action).toBe('done');
  expect(service.requests.filter(({ path }) => path.endsWith('ComputerSystem.Reset'))).toHaveLength(1);
});
