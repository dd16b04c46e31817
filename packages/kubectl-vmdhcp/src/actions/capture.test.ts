import { ExitCode } from '@vmdhcp/service-process';
import { afterEach, expect, it } from 'vitest';
import { capture } from './capture.js';

const { isTTY } = process.stdout;

afterEach(() => {
  process.stdout.isTTY = isTTY;
});

it('a capture is not written to a terminal: that is refused before any request', async () => {
  process.stdout.isTTY = true;
  const refused = capture('net-48', { write: '-', seconds: 1, packets: 1 });
  await expect(refused).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: expect.stringContaining('--write FILE') as string,
  });
});
