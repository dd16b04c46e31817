import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { LeaseSaving } from './lease-saving.js';

function saving() {
  const clock = new FakeClock();
  const log: string[] = [];
  const note = (level: string) => (_: unknown, message?: string) => void log.push(`${level} ${message?.split(';')[0]}`);
  const leases = new LeaseSaving({
    logger: { info: note('info'), error: note('error') } as never,
    clock,
    directory: '/state',
    retry: () => log.push('retry'),
  });
  return { clock, log, leases };
}

describe('saving leases', () => {
  it('logs and retries nothing while it works', async () => {
    const { clock, log, leases } = saving();
    leases.onSaved();
    await clock.advance(10_000);
    expect(log).toEqual([]);
  });

  it('logs a failure once for each reason, and tries again after two seconds', async () => {
    const { clock, log, leases } = saving();
    leases.onFailure(new Error('the disk is full'));
    leases.onFailure(new Error('the disk is full'));
    await clock.advance(1_999);
    expect(log).toEqual(['error leases cannot be saved: the disk is full']);
    await clock.advance(1);
    leases.onFailure('read-only');
    await clock.advance(2_000);
    expect(log.slice(1)).toEqual(['retry', 'error leases cannot be saved: read-only', 'retry']);
    expect(clock.pending).toBe(0);
  });

  it('logs a success once; the failed change is still tried again, because another change may have been saved', async () => {
    const { clock, log, leases } = saving();
    leases.onFailure(new Error('the disk is full'));
    leases.onSaved();
    leases.onSaved();
    await clock.advance(2_000);
    expect(log).toEqual(['error leases cannot be saved: the disk is full', 'info leases can be saved again', 'retry']);
    await clock.advance(10_000);
    expect(log).toHaveLength(3);
  });

  it('logs a later failure again, with one retry at a time', async () => {
    const { clock, log, leases } = saving();
    leases.onFailure(new Error('the disk is full'));
    leases.onSaved();
    leases.onFailure(new Error('the disk is full'));
    expect(clock.pending).toBe(1);
    expect(log.filter((line) => line.startsWith('error'))).toHaveLength(2);
  });

  it.each(['failing', 'recovered', 'saved'])('logs and retries nothing after the stop (%s)', async (state) => {
    const { clock, log, leases } = saving();
    if (state !== 'saved') leases.onFailure(new Error('the disk is full'));
    if (state === 'recovered') leases.onSaved();
    leases.stop();
    log.length = 0;
    leases.onFailure(new Error('closed'));
    leases.onSaved();
    await clock.advance(10_000);
    expect(log).toEqual([]);
  });
});
