import { describe, expect, it } from 'vitest';
import { AddressUsage } from './address-usage.js';
import { clusterAgent } from './hosts-fixtures.js';

const COUNTS = { size: 10, valid: 1, quarantined: 0, declared: 0, free: 9 };
const stored = (addresses: object) => ({ ...clusterAgent(), status: { addresses } });

function usage(result: object = { ok: true, object: {} }) {
  const writes: unknown[] = [];
  const errors: unknown[] = [];
  const now = { ms: 0 };
  const patchStatus = async (_: unknown, patch: unknown) => {
    writes.push(patch);
    return result as never;
  };
  const client = { patchStatus };
  return {
    writes,
    errors,
    now,
    usage: new AddressUsage({ client, nowMs: () => now.ms, onError: (error) => errors.push(error) }),
  };
}

describe('the usage of addresses in the status', () => {
  it('is written when it differs, and not more often than every five seconds', async () => {
    const { writes, now, usage: writer } = usage();
    await writer.report(clusterAgent(), COUNTS);
    expect(writes).toEqual([{ status: { addresses: { total: 10, used: 1, available: 9 } } }]);
    now.ms = 4_999;
    await writer.report(stored({ total: 10, used: 1, available: 9 }), { ...COUNTS, valid: 2, free: 8 });
    expect(writes).toHaveLength(1);
    now.ms = 5_000;
    await writer.report(stored({ total: 10, used: 2, available: 8 }), { ...COUNTS, valid: 2, free: 8 });
    expect(writes).toHaveLength(1);
    await writer.report(stored({ total: 10, used: 1, available: 9 }), { ...COUNTS, valid: 2, free: 8 });
    expect(writes).toHaveLength(2);
  });

  it('what is refused is reported; an object that is gone is not', async () => {
    const refused = usage({ ok: false, reason: 'forbidden', message: 'no right' });
    await refused.usage.report(clusterAgent(), COUNTS);
    expect(refused.errors).toEqual([new Error('no right')]);
    const gone = usage({ ok: false, reason: 'not-found', message: '' });
    await gone.usage.report(clusterAgent(), COUNTS);
    expect(gone.errors).toEqual([]);
  });
});
