import { describe, expect, it } from 'vitest';
import { toRefusal } from './page-client.js';

describe('answers without data', () => {
  it.each([
    [401, 'sign-in'],
    [403, 'refused'],
    [404, 'refused'],
    [429, 'unreachable'],
    [500, 'unreachable'],
    [503, 'unreachable'],
  ])('status %i: %s', async (status, kind) => {
    const body = JSON.stringify({ error: 'forbidden', message: 'bind the role' });
    expect(await toRefusal(new Response(body, { status }))).toMatchObject({ kind, message: 'bind the role' });
  });

  it.each(['<html>Bad gateway</html>', '', '{}', '{"message":7}', 'null'])('from a gateway: %s', async (body) => {
    const refusal = await toRefusal(new Response(body, { status: 502 }));
    expect(refusal).toEqual({ kind: 'unreachable', message: 'the server answered with status 502' });
  });
});
