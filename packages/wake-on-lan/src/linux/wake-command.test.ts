import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WakeCommand } from './wake-command.js';

const LIMITS = { running: 1, waiting: 1, timeLimitMs: 10_000, endMs: 10_000 };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-wake-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('WakeCommand', () => {
  it('runs in a shell, with the facts of the wake-up in its environment', async () => {
    const path = join(folder, 'woken');
    const command = new WakeCommand(`echo "$WOL_MAC" > '${path}'`, LIMITS);
    expect(await command.run({ WOL_MAC: '02:00:00:00:00:0a' })).toEqual({ ok: true });
    expect(readFileSync(path, 'utf8')).toBe('02:00:00:00:00:0a\n');
  });

  it('reports how it failed, and its error output', async () => {
    expect(await new WakeCommand('echo no such machine >&2; exit 3', LIMITS).run({})).toEqual({
      ok: false,
      why: 'it ended with exit code 3: no such machine',
    });
  });

  it('runs a limited number at a time; others wait, and more are refused', async () => {
    const [gate, path] = [join(folder, 'gate'), join(folder, 'ran')];
    const command = new WakeCommand(`while [ ! -e '${gate}' ]; do sleep 0.01; done; echo "$NAME" >> '${path}'`, LIMITS);
    const [first, second] = [command.run({ NAME: 'first' }), command.run({ NAME: 'second' })];
    expect(await command.run({ NAME: 'third' })).toEqual({ ok: false, why: 'too many commands wait' });
    writeFileSync(gate, '');
    expect([await first, await second]).toEqual([{ ok: true }, { ok: true }]);
    expect(readFileSync(path, 'utf8')).toBe('first\nsecond\n');
  });

  it('when it stops, waiting and new commands are refused, and running ones may end', async () => {
    const [gate, path] = [join(folder, 'gate'), join(folder, 'ran')];
    const command = new WakeCommand(`while [ ! -e '${gate}' ]; do sleep 0.01; done; echo "$NAME" >> '${path}'`, LIMITS);
    const [first, second] = [command.run({ NAME: 'first' }), command.run({ NAME: 'second' })];
    const stopped = command.stop();
    expect(await second).toEqual({ ok: false, why: 'it was not run, because the agent is ending' });
    expect(await command.run({ NAME: 'third' })).toEqual({ ok: false, why: 'it was not run, because the agent is ending' });
    writeFileSync(gate, '');
    expect(await first).toEqual({ ok: true });
    await stopped;
    expect(readFileSync(path, 'utf8')).toBe('first\n');
  });

  it('when it stops, commands that keep running are killed', async () => {
    const command = new WakeCommand('sleep 600 & wait', { ...LIMITS, endMs: 50 });
    const running = command.run({});
    await command.stop();
    expect(await running).toEqual({ ok: false, why: 'the agent is ending, and it took more than 0.05 s' });
    await command.stop();
  });

  it('kills a command that takes too long, with its children', async () => {
    const command = new WakeCommand('sleep 600 & wait', { ...LIMITS, timeLimitMs: 200 });
    expect(await command.run({})).toEqual({ ok: false, why: 'it took more than 0.2 s' });
  });
});
