import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AddressConflict, readReportedConflicts, toReportedConflict } from './address-conflict.js';

const OWNER = '02:00:00:00:00:01';

describe('conflicts in the report of agents', () => {
  it('contain addresses in any common spelling', () => {
    const conflict: AddressConflict = { address: 0x0a000009, macAddress: OWNER, usedBy: '02:00:00:00:00:02' };
    expect(toReportedConflict(conflict)).toEqual({ address: '10.0.0.9', macAddress: OWNER, usedBy: '02:00:00:00:00:02' });
    expect(toReportedConflict({ address: 1, macAddress: OWNER })).toStrictEqual({ address: '0.0.0.1', macAddress: OWNER });
  });

  it('law: are read as they were written', () => {
    const macAddress = fc.constantFrom(OWNER, '02:00:00:00:00:02');
    const conflict = fc.record(
      { address: fc.nat(0xffffffff), macAddress, usedBy: macAddress },
      { requiredKeys: ['address', 'macAddress'] },
    );
    fc.assert(
      fc.property(fc.array(conflict), (conflicts) => {
        expect(readReportedConflicts(conflicts.map(toReportedConflict))).toEqual(conflicts);
      }),
    );
  });

  it('without a readable address or client are ignored; the host that uses the address may be unknown', () => {
    const reported = [
      { address: '10.0.0.9', macAddress: 'none' },
      { address: '10.0.0', macAddress: OWNER },
      { address: '10.0.0.9', macAddress: OWNER.replaceAll(':', '-'), usedBy: 'none' },
    ];
    expect(readReportedConflicts(reported)).toStrictEqual([{ address: 0x0a000009, macAddress: OWNER }]);
  });
});
