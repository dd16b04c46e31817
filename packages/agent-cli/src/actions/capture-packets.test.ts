import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgentControl } from '@vmdhcp/agent-process';
import { AgentTraffic, PacketCaptures } from '@vmdhcp/dhcp-agent/packet-path';
import { createLogger } from '@vmdhcp/service-process';
import { expect, it, onTestFinished, vi } from 'vitest';
import { capturePackets } from './capture-packets.js';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Captures nothing, for a second, from an agent whose state is in this folder. */
async function capture(folder: string, write: string): Promise<void> {
  const control = await startAgentControl({
    stateDirectory: folder,
    logger: await createLogger('silent'),
    traffic: new AgentTraffic({ nowMs: () => 1, random: () => 0.5 }),
    captures: new PacketCaptures(),
    pools: () => new Map([['default/net-48', ['br48']]]),
  });
  onTestFinished(() => control.close());
  await capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
}

it('a capture can be read by its user only, also in a file that was there', async () => {
  const folder = temporaryFolder();
  const write = join(folder, 'file.pcapng');
  writeFileSync(write, '', { mode: 0o644 });
  await capture(folder, write);
  expect(statSync(write).size).toBeGreaterThan(0);
  expect(statSync(write).mode & 0o077).toBe(0);
});

it('a file of another user, who could read the packets, is refused before packets are captured, and kept', async () => {
  const folder = temporaryFolder();
  const write = join(folder, 'file.pcapng');
  writeFileSync(write, 'an earlier capture');
  const user = vi.spyOn(process, 'geteuid').mockReturnValue(4_242);
  onTestFinished(() => user.mockRestore());
  const asked = capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
  await expect(asked).rejects.toMatchObject({ exitCode: 73, message: expect.stringContaining('give a file of your own') });
  expect(readFileSync(write, 'utf8')).toBe('an earlier capture');
});

it('a path that cannot be looked at is refused in a sentence', async () => {
  const folder = temporaryFolder();
  const write = join(folder, 'file'.repeat(100));
  const asked = capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
  await expect(asked).rejects.toMatchObject({ exitCode: 73, message: expect.stringContaining('ENAMETOOLONG') });
});

it('a named pipe is refused without a reader, for whom the command would wait without end, and used with one', async () => {
  const folder = temporaryFolder();
  const write = join(folder, 'pipe');
  execFileSync('sh', ['-c', `mkfifo ${write}`]);
  const asked = capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
  await expect(asked).rejects.toMatchObject({ exitCode: 73, message: expect.stringContaining('start the reader first') });
  const reader = spawn('cat', [write]);
  const chunks: Buffer[] = [];
  reader.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve) => reader.on('close', resolve));
  await expect
    .poll(
      () =>
        capture(folder, write).then(
          () => true,
          () => false,
        ),
      { timeout: 30_000 },
    )
    .toBe(true);
  await ended;
  expect(Buffer.concat(chunks).subarray(0, 4).toString('hex')).toBe('0a0d0d0a');
});
