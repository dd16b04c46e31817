import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { LeaseEventLog } from './lease-event-log.js';

describe('the log of lease events', () => {
  it('has one line for each event, and in a storm one with the number of the missing lines', () => {
    const lines: string[] = [];
    const log = new LeaseEventLog(pino({ base: null }, { write: (line: string) => void lines.push(line) }), () => 1_000);
    for (let count = 0; count < 2_000; count++)
      log.note('refused', { poolName: 'net', macAddress: '02:00:00:00:00:0a', address: 0x0a000001 }, { reason: 'unknown' });
    expect(lines).toHaveLength(500);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      event: 'refused',
      pool: 'net',
      mac: '02:00:00:00:00:0a',
      address: '10.0.0.1',
      reason: 'unknown',
      msg: 'lease refused',
    });
    log.reportSuppressed();
    log.reportSuppressed();
    expect(lines).toHaveLength(501);
    expect(JSON.parse(lines[500] ?? '')).toMatchObject({ suppressed: 1_500 });
    expect(log.counts().get('refused')).toBe(2_000);
  });
});
