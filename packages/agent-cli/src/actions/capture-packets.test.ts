import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgentControl } from '@vmdhcp/agent-process';
import { AgentTraffic, PacketCaptures } from '@vmdhcp/dhcp-agent/packet-path';
import { createLogger } from '@vmdhcp/service-process';
import { expect, it, onTestFinished } from 'vitest';
import { capturePackets } from './capture-packets.js';

it('a capture can be read by its user only, also in a file that was there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const control = await startAgentControl({
    stateDirectory: folder,
    logger: await createLogger('silent'),
    traffic: new AgentTraffic({ nowMs: () => 1, random: () => 0.5 }),
    captures: new PacketCaptures(),
    pools: () => new Map([['default/net-48', ['br48']]]),
  });
  const write = join(folder, 'file.pcapng');
  writeFileSync(write, '', { mode: 0o644 });
  await capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
  control.close();
  expect(statSync(write).size).toBeGreaterThan(0);
  expect(statSync(write).mode & 0o077).toBe(0);
});

it('a named pipe is refused, whose reader the command would wait for without end', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-capture-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = join(folder, 'pipe');
  execFileSync('sh', ['-c', `mkfifo ${write}`]);
  const asked = capturePackets({ state: folder, pool: 'net-48', seconds: 1, packets: 1, write });
  await expect(asked).rejects.toMatchObject({ exitCode: 64, message: expect.stringContaining(`use --write - > ${write}`) });
});
