/** The outcome of an action is unknown only if a request that changes something was sent: nobody should look for the effect of one that was not. */
import { expect, it, onTestFinished } from 'vitest';
import { isOutcomeUnknown } from './error/redfish-error.js';
import { MOST_REQUESTS } from './http/call.js';
import {
  CREDENTIALS,
  collection,
  failureOf,
  link,
  type Responder,
  refuse,
  SMALL,
  sendJson,
  serve,
  startService,
} from './service-fixtures.js';

const SYSTEM = '/redfish/v1/Systems/1';
const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;
const cut: Responder = (_, response) => void response.destroy();

/** A service that answers these requests otherwise, by method and path. */
async function clientOf(exceptions: Readonly<Record<string, Responder>>) {
  const service = await startService((request, response) =>
    (exceptions[`${request.method} ${request.path}`] ?? serve(SMALL))(request, response),
  );
  onTestFinished(() => service[Symbol.asyncDispose]());
  return service.client({}, { credentials: CREDENTIALS });
}

const challenge: Responder = (request, response) =>
  request.headers['x-auth-token'] === undefined ? refuse(response, 401) : serve(SMALL)(request, response);
const login: Responder = (_, response) =>
  sendJson(response, link('/sessions/1'), { status: 201, headers: { 'X-Auth-Token': 'token-1', Location: '/sessions/1' } });
const SESSIONS = 'POST /redfish/v1/SessionService/Sessions';

it.each<[what: string, isUnknown: boolean, code: string, exceptions: Readonly<Record<string, Responder>>]>([
  ['the systems cannot be read', false, 'connection-lost', { 'GET /redfish/v1/Systems': cut }],
  ['the login is cut off', false, 'connection-lost', { [`GET ${SYSTEM}`]: challenge, [SESSIONS]: cut }],
  ['the service refuses the action', false, 'refused', { [`POST ${RESET}`]: (_, response) => refuse(response, 409) }],
  ['the action is cut off', true, 'connection-lost', { [`POST ${RESET}`]: cut }],
  [
    'the action is cut off after a login',
    true,
    'connection-lost',
    { [`GET ${SYSTEM}`]: challenge, [SESSIONS]: login, [`POST ${RESET}`]: cut },
  ],
  [
    'the service refuses the action for want of a session, and then the login is cut off',
    false,
    'connection-lost',
    { [`POST ${RESET}`]: challenge, [SESSIONS]: cut },
  ],
])('a power action: %s', async (_, isUnknown, code, exceptions) => {
  const failure = await failureOf((await clientOf(exceptions)).reset('On'));
  expect([failure.code, isOutcomeUnknown(failure)]).toEqual([code, isUnknown]);
});

it('a power action that waits for its task when the call ends has an unknown outcome', async () => {
  const looked = Promise.withResolvers<void>();
  const accepted: Responder = (_, response) => void response.writeHead(202, { Location: '/monitor' }).end();
  const client = await clientOf({
    [`POST ${RESET}`]: accepted,
    'GET /monitor': (request, response) => {
      looked.resolve();
      return accepted(request, response);
    },
  });
  const end = new AbortController();
  const failure = failureOf(client.reset('On', { signal: end.signal }));
  await looked.promise;
  end.abort();
  expect([(await failure).code, isOutcomeUnknown(await failure)]).toEqual(['aborted', true]);
});

it('a power action that the caller may not send any more has a known outcome', async () => {
  const failure = await failureOf((await clientOf({})).reset('On', { mayChange: () => false }));
  expect([failure.code, isOutcomeUnknown(failure)]).toEqual(['aborted', false]);
});

it('a power action for which the call has no request left has a known outcome', async () => {
  // The service root and the collection are requests too.
  const paths = Array.from({ length: MOST_REQUESTS - 2 }, (_, index) => `/systems/${index}`);
  const client = await clientOf({
    'GET /redfish/v1/Systems': () => collection(...paths),
    ...Object.fromEntries(paths.map((path) => [`GET ${path}`, () => ({ ...SMALL[SYSTEM], ...link(path) })])),
  });
  const failure = await failureOf(client.reset('On'));
  expect([failure.code, isOutcomeUnknown(failure)]).toEqual(['too-large', false]);
});

it('a boot override that was refused because of its ETag, and whose ETag cannot be read again, has a known outcome', async () => {
  let isRefused = false;
  const client = await clientOf({
    [`PATCH ${SYSTEM}`]: (_, response) => {
      isRefused = true;
      return refuse(response, 412);
    },
    [`GET ${SYSTEM}`]: (request, response) => (isRefused ? cut : serve(SMALL))(request, response),
  });
  const failure = await failureOf(client.bootOnceFromNetwork());
  expect([failure.code, isOutcomeUnknown(failure)]).toEqual(['connection-lost', false]);
});
