import http from 'node:http';
import { describe, expect, it } from 'vitest';
import { serveHttp } from './http-server-fixtures.js';
import { toImpersonationHeaders } from './impersonation.js';

describe('a kubeconfig', () => {
  it.each<[string, unknown, unknown]>([
    ['no user', undefined, {}],
    ['a user without impersonation', { token: 'x', as: '' }, {}],
    ['a name', { as: 'jane' }, { 'impersonate-user': 'jane' }],
    ['a UID', { as: 'jane', 'as-uid': '7' }, { 'impersonate-user': 'jane', 'impersonate-uid': '7' }],
    ['groups', { as: 'jane', 'as-groups': ['a', 'b'] }, { 'impersonate-user': 'jane', 'impersonate-group': ['a', 'b'] }],
    [
      'further facts',
      { as: 'jane', 'as-user-extra': { 'example.com/team (new)': ['a', 'b'], reason: ['c'] } },
      {
        'impersonate-user': 'jane',
        'impersonate-extra-example.com%2Fteam%20%28new%29': ['a', 'b'],
        'impersonate-extra-reason': ['c'],
      },
    ],
    // The API server refuses it; without the header it would be more rights than asked for.
    ['groups without a name', { 'as-groups': ['a'] }, { 'impersonate-group': ['a'] }],
  ])('with %s gives the headers that kubectl sends', (_, user, headers) => {
    expect(toImpersonationHeaders(user)).toEqual(headers);
  });
});

it('each value of a header with several values arrives', async () => {
  let received: readonly string[] = [];
  const server = await serveHttp((request, response) => {
    received = request.rawHeaders;
    response.end('{}');
  });
  const headers = toImpersonationHeaders({ as: 'jane', 'as-groups': ['a', 'b'], 'as-user-extra': { 'a.b/c': ['d', 'e'] } });
  await new Promise((resolve) => http.get(server.url, { headers }, (response) => response.resume().on('end', resolve)));
  await server.close();
  const pairs = received.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${received[index + 1]}`] : []));
  expect(pairs.filter((pair) => pair.startsWith('impersonate'))).toEqual([
    'impersonate-user: jane',
    'impersonate-group: a',
    'impersonate-group: b',
    'impersonate-extra-a.b%2Fc: d',
    'impersonate-extra-a.b%2Fc: e',
  ]);
});
