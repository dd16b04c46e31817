/**
 * Tests how each flag of `vmdhcp-agent wol` changes the settings of its agent. The effect of the settings is tested where they
 * are read.
 */

import { WakeAgent } from '@vmdhcp/wake-on-lan/linux';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { wolCommand } from './wol.js';

afterEach(() => vi.restoreAllMocks());

async function settingsOf(words: readonly string[]) {
  const stop = async () => undefined;
  const start = vi.spyOn(WakeAgent, 'start').mockResolvedValue({ stop } as unknown as WakeAgent);
  const before = new Set(process.listeners('SIGTERM'));
  // Neither frames nor a port below 1024: it needs no rights.
  const quiet = ['--no-frames', '--log-level', 'error'];
  await wolCommand().parseAsync([...quiet, ...(words.includes('--port') ? [] : ['--port', '4000']), ...words], { from: 'user' });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    for (const listener of process.listeners(signal)) if (!before.has(listener as never)) process.off(signal, listener);
  return start.mock.lastCall?.[0];
}

describe('a flag of wol', () => {
  it.each<[flags: string, settings: object]>([
    ['--window 60', { windowMs: 60_000 }],
    ['--port 4001 --port 4002', { udpPorts: [4001, 4002] }],
    ['--interface eth0 --interface !eth1', { patterns: ['eth0', '!eth1'] }],
    ['--promiscuous', { promiscuous: true }],
    ['--mac 02:00:00:00:00:01', { machines: new Set(['02:00:00:00:00:01']) }],
    ['--http off', { http: undefined }],
  ])('%s changes its setting, and the default is different', async (flags, settings) => {
    expect(await settingsOf(flags.split(' '))).toMatchObject(settings);
    expect(await settingsOf([])).not.toMatchObject(settings);
  });
});
