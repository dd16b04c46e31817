import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiConnection } from '@vmdhcp/kube-runtime/node';
import { CommandError } from '@vmdhcp/service-process';
import { describe, expect, it } from 'vitest';
import { applyCrds, isNewerVersion } from './apply-crds.js';

/** The result of applying at a server that gives every request this status; undefined: there is no server. */
async function outcomeAt(status: number | undefined): Promise<unknown> {
  const server = createServer((_, response) => response.writeHead(status ?? 500).end('{"message":"no"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  if (status === undefined) await new Promise((resolve) => server.close(resolve));
  const where = { server: `http://127.0.0.1:${port}`, tls: {}, authorization: async () => undefined, namespace: 'default' };
  const connection = new ApiConnection(where, { userAgent: 'test' });
  const outcome = await applyCrds(connection).catch((error: unknown) => error);
  connection.close();
  server.close();
  return outcome;
}

describe('applyCrds', () => {
  it.each([
    [undefined, 69, 'ECONNREFUSED'],
    [403, 1, '403 no'],
    [500, 1, '500 no'],
  ])('with server status %s it ends with exit code %i and a sentence, not a stack trace', async (status, exitCode, text) => {
    const error = await outcomeAt(status);
    expect(error).toBeInstanceOf(CommandError);
    expect(error).toMatchObject({ exitCode });
    expect((error as Error).message).toContain(text);
  });
});

describe('isNewerVersion', () => {
  it.each([
    ['1.0.0', '0.9.9', true],
    ['1.10.0', '1.9.9', true],
    ['1.2.4-rc.1', '1.2.3', true],
    ['1.2.3', '1.2.3', false],
    ['1.2.3', '1.2.4', false],
    ['', '0.0.0', false],
    ['nonsense', '0.0.0', false],
  ])('%s after %s: %s', (one, other, expected) => {
    expect(isNewerVersion(one, other)).toBe(expected);
  });
});
