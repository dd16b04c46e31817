import { systemClock } from '@vmdhcp/kube-runtime/node';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { describe, expect, it } from 'vitest';
import { type Closable, TermLeases } from './term-leases.js';

const settled = () => new Promise<void>((resolve) => void systemClock.after(0, resolve));

function leasesWith(failures = 0) {
  const clock = new FakeClock();
  const log: string[] = [];
  let left = failures;
  const leases = new TermLeases<Closable>({
    clock,
    logger: { warn: (text: unknown) => void log.push(`warn ${String(text)}`) } as never,
    open: async () => {
      if (left-- > 0) throw new Error('another agent uses it');
      log.push('open');
      return { close: async () => void log.push('close') };
    },
    onChange: (now) => log.push(now === undefined ? 'none' : 'some'),
  });
  return { clock, log, leases };
}

describe('leases of a leader', () => {
  it('are opened once, and closed before the release ends', async () => {
    const { log, leases } = leasesWith();
    leases.open();
    leases.open();
    await settled();
    await leases.release();
    expect(log).toEqual(['open', 'some', 'none', 'close']);
  });

  it('are tried again while another replica has them; one line in the log', async () => {
    const { clock, log, leases } = leasesWith(3);
    leases.open();
    for (let round = 0; round < 3; round++) {
      await settled();
      expect(leases.problem).toContain('another agent uses it');
      await clock.advance(500);
    }
    await settled();
    expect(leases.current).toBeDefined();
    expect(log).toEqual([expect.stringContaining('warn leases cannot be opened'), 'open', 'some']);
    await leases.release();
  });

  it('are never handed over if leadership ends before they are open', async () => {
    const { log, leases } = leasesWith();
    leases.open();
    await leases.release();
    await settled();
    expect(log.filter((line) => line === 'some')).toEqual([]);
    expect(log.filter((line) => line === 'open')).toHaveLength(log.filter((line) => line === 'close').length);
  });

  it('stop waiting at once on a release', async () => {
    const { leases } = leasesWith(10);
    leases.open();
    await settled();
    await leases.release();
    expect([leases.current, leases.problem]).toEqual([undefined, undefined]);
  });
});
