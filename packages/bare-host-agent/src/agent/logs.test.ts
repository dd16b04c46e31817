import { describe, expect, it } from 'vitest';
import { ReadinessLog } from './readiness-log.js';
import { RefusalLog } from './refusal-log.js';

describe('ReadinessLog', () => {
  it('logs one line when every pool is served, and one when that ends; none while an agent starts', () => {
    const log: unknown[] = [];
    const note = (facts: unknown, message?: string) => void log.push([facts, message]);
    const readiness = new ReadinessLog({ info: note, warn: note } as never);
    const served = { pools: ['net-48'], interfaces: ['eth1'] };
    const unserved = [{ pool: 'net-48', reason: 'interface eth1 is missing' }];
    readiness.report(unserved, served);
    readiness.report([], served);
    readiness.report([], served);
    readiness.report(unserved, served);
    readiness.report(unserved, served);
    readiness.report([], served);
    expect(log).toEqual([
      [served, 'serving'],
      [{ unserved }, 'not every pool is served'],
      [served, 'serving'],
    ]);
  });
});

describe('RefusalLog', () => {
  it('logs one line for each claim that cannot be fulfilled, when it begins, and when it begins again', () => {
    const log: string[] = [];
    const refusals = new RefusalLog({ warn: (_: unknown, message?: string) => void log.push(message ?? '') } as never);
    const refused = (message: string) => ({
      owner: 'vm',
      macAddress: '02:00:00:00:00:0a',
      reason: 'pool-full' as never,
      message,
    });
    refusals.report([refused('a')]);
    refusals.report([refused('a'), refused('b')]);
    refusals.report([refused('b')]);
    refusals.report([refused('a'), refused('b')]);
    expect(log).toEqual(['a', 'b', 'a']);
  });
});
