import { expect, it } from 'vitest';
import { SILENT_MS, SilentInterfaces } from './silent-interfaces.js';

function setUp() {
  let nowMs = 0;
  const frames = new Map<string, number | undefined>([['net0', 0]]);
  const asked: number[] = [];
  const changes: string[] = [];
  const silence = new SilentInterfaces({
    clock: { nowMs: () => nowMs },
    framesReceived: (name) => frames.get(name),
    ask: () => asked.push(nowMs / 1_000),
    onChange: (name, isSilent) => changes.push(`${nowMs / 1_000} s: ${name} ${isSilent ? 'silent' : 'heard'}`),
  });
  const pass = (seconds: number, names = ['net0']) => {
    for (let second = 0; second < seconds; second++) {
      nowMs += 1_000;
      silence.look(new Set(names));
    }
  };
  return { silence, frames, asked, changes, pass, hear: (name = 'net0') => frames.set(name, (frames.get(name) ?? 0) + 1) };
}

it('an interface is silent two minutes after the last frame, and machines are asked before that', () => {
  const { silence, asked, changes, pass, hear } = setUp();
  pass(61);
  expect(asked).toEqual([41, 51, 61]);
  hear();
  pass(120);
  expect([silence.isSilent('net0'), silence.silentForMs('net0')]).toEqual([false, 0]);
  pass(1);
  expect(silence.isSilent('net0')).toBe(true);
  pass(60);
  expect(silence.silentForMs('net0')).toBe(SILENT_MS + 60_000);
  hear();
  pass(1);
  expect(silence.isSilent('net0')).toBe(false);
  expect(changes).toEqual(['182 s: net0 silent', '243 s: net0 heard']);
});

it('an interface whose frames are not counted is never silent', () => {
  const { silence, frames, pass, asked } = setUp();
  frames.set('net0', undefined);
  pass(500);
  expect([silence.isSilent('net0'), asked]).toEqual([false, []]);
});

it('frames of a bridge that was just made do not count as hearing the network, later ones do', () => {
  const { silence, pass, hear } = setUp();
  pass(20);
  hear();
  pass(1);
  expect(silence.hasNeverHeard('net0')).toBe(false);
  pass(121);
  expect(silence.hasNeverHeard('net0')).toBe(true);
  hear();
  pass(200);
  expect([silence.isSilent('net0'), silence.hasNeverHeard('net0')]).toEqual([true, false]);
});

it('an interface that is not looked at any more begins anew', () => {
  const { silence, pass } = setUp();
  pass(200);
  pass(1, []);
  expect(silence.isSilent('net0')).toBe(false);
  pass(100);
  expect(silence.isSilent('net0')).toBe(false);
});
