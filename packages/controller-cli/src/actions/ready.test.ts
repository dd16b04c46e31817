import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PROGRAM = fileURLToPath(new URL('../../bin/vmdhcp-controller.js', import.meta.url));
let server: Server;
let url: string;
/** The response to each request, in order; the last one is repeated. */
let answers: { readonly status: number; readonly text: string }[];

beforeEach(async () => {
  server = createServer((request, response) => {
    const [answer = { status: 500, text: 'no answer' }] = answers.length > 1 ? answers.splice(0, 1) : answers;
    response.writeHead(request.url === '/readyz' ? answer.status : 404).end(answer.text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function run(...words: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  const child = spawn(process.execPath, [PROGRAM, 'ready', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, output };
}

describe('vmdhcp-controller ready', { timeout: 20_000 }, () => {
  it('waits until a status server is ready', async () => {
    answers = [
      { status: 503, text: 'dhcp: caches are not complete\n' },
      { status: 200, text: '{"ok":true}\n' },
    ];
    expect(await run(url)).toEqual({ code: 0, output: `${url} is ready\n` });
  });

  it('says what each one waits for, and exits with 69', async () => {
    answers = [{ status: 503, text: 'dhcp: caches are not complete\nwebhook: no certificate\n' }];
    const { code, output } = await run(url, 'http://127.0.0.1:1', '--timeout', '0.1');
    expect(code).toBe(69);
    expect(output).toContain(
      `not ready after 0.1 s: ${url} (dhcp: caches are not complete, webhook: no certificate); http://127`,
    );
  });

  it('refuses text that is not an address of a status server', async () => {
    expect(await run('vm-dhcp-controller:8080')).toMatchObject({
      code: 64,
      output: expect.stringContaining('write a URL') as string,
    });
  });
});
