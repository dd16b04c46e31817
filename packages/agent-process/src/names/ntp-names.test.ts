import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { NtpNames } from './ntp-names.js';

const MINUTE_MS = 60_000;

/** A name service whose replies the test decides, and the calls that happened. */
function namesOn(service: Map<string, readonly string[]>) {
  const clock = new FakeClock();
  const log: string[] = [];
  const names = new NtpNames({
    clock,
    resolve: async (name) => {
      log.push(`look up ${name}`);
      const addresses = service.get(name);
      if (addresses === undefined) throw new Error('not found');
      return addresses;
    },
    onChange: () => log.push(`known ${[...names.known].map(([name, addresses]) => `${name}=${addresses.join('+')}`).join(' ')}`),
    onFailure: (name, { message }) => log.push(`${name}: ${message}`),
  });
  return { clock, names, log };
}

describe('names of NTP servers', () => {
  it('are looked up when they are wanted, and their addresses have a stable order', async () => {
    const { clock, names, log } = namesOn(new Map([['time.example', ['10.0.0.9', '10.0.0.1']]]));
    names.want(new Set(['time.example']));
    expect(names.known.size).toBe(0);
    await clock.advance(0);
    expect(log).toEqual(['look up time.example', 'known time.example=10.0.0.1+10.0.0.9']);
  });

  it('are tried every 15 seconds until they resolve, and reported then', async () => {
    const service = new Map<string, readonly string[]>();
    const { clock, names, log } = namesOn(service);
    names.want(new Set(['time.example']));
    await clock.advance(14_999);
    expect(log).toEqual(['look up time.example', 'time.example: not found']);
    service.set('time.example', ['10.0.0.9']);
    await clock.advance(1);
    expect(log.slice(2)).toEqual(['look up time.example', 'known time.example=10.0.0.9']);
    expect(names.known.get('time.example')).toEqual(['10.0.0.9']);
  });

  it('resolve independently of one that fails', async () => {
    const { clock, names } = namesOn(new Map([['time.example', ['10.0.0.9']]]));
    names.want(new Set(['lost.example', 'time.example']));
    await clock.advance(0);
    expect([...names.known.keys()]).toEqual(['time.example']);
  });

  it('are looked up again after ten minutes; only changed addresses are reported', async () => {
    const service = new Map<string, readonly string[]>([['time.example', ['10.0.0.9', '10.0.0.1']]]);
    const { clock, names, log } = namesOn(service);
    names.want(new Set(['time.example']));
    await clock.advance(0);
    log.length = 0;
    service.set('time.example', ['10.0.0.1', '10.0.0.9']);
    await clock.advance(10 * MINUTE_MS - 1);
    expect(log).toEqual([]);
    await clock.advance(1);
    expect(log).toEqual(['look up time.example']);
    service.set('time.example', ['10.0.0.2']);
    await clock.advance(10 * MINUTE_MS);
    expect(log.slice(1)).toEqual(['look up time.example', 'known time.example=10.0.0.2']);
  });

  it('keep their known addresses if a later look-up fails', async () => {
    const service = new Map<string, readonly string[]>([['time.example', ['10.0.0.9']]]);
    const { clock, names } = namesOn(service);
    names.want(new Set(['time.example']));
    await clock.advance(0);
    service.clear();
    await clock.advance(10 * MINUTE_MS);
    expect(names.known.get('time.example')).toEqual(['10.0.0.9']);
  });

  it('are not looked up again if they are already wanted; new ones are looked up at once', async () => {
    const { clock, names, log } = namesOn(new Map([['a', ['10.0.0.1']]]));
    names.want(new Set(['a']));
    await clock.advance(0);
    names.want(new Set(['a']));
    await clock.advance(0);
    expect(log).toHaveLength(2);
    names.want(new Set(['a', 'b']));
    await clock.advance(0);
    expect(log.slice(2)).toEqual(['look up a', 'look up b', 'b: not found']);
  });

  it('are no longer looked up when they are no longer wanted', async () => {
    const { clock, names, log } = namesOn(new Map([['a', ['10.0.0.1']]]));
    names.want(new Set(['a', 'b']));
    await clock.advance(0);
    log.length = 0;
    names.want(new Set(['a']));
    await clock.advance(15_000);
    expect(log).toEqual(['look up a']);
  });

  it('leave one timer if two look-ups overlap', async () => {
    const { clock, names } = namesOn(new Map());
    names.want(new Set(['a']));
    names.want(new Set(['a', 'b']));
    await clock.advance(0);
    expect(clock.pending).toBe(1);
  });

  it('are not looked up or reported after the stop', async () => {
    const { clock, names, log } = namesOn(new Map());
    names.want(new Set(['a']));
    names.stop();
    await clock.advance(15_000);
    expect(log).toEqual(['look up a']);
    expect(clock.pending).toBe(0);
  });
});
