import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeAgentReport, formatAgentReport, type PoolReport, parseAgentReport } from './agent-report.js';

const FULL: PoolReport = {
  serving: false,
  reason: 'ForeignServer',
  message: 'another one answers',
  version: '17',
  conflicts: [
    { address: parseIpv4Address('10.0.0.9') as number, macAddress: '02:00:00:00:00:01', usedBy: '02:00:00:00:00:02' },
    { address: parseIpv4Address('10.0.0.8') as number, macAddress: '02:00:00:00:00:03' },
  ],
  foreignServers: [{ address: '10.0.0.1', macAddress: '02:00:00:00:00:04' }],
};

describe('the report', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.record({ serving: fc.boolean() })), (pools) => {
        const report = new Map(Object.entries(pools));
        expect(parseAgentReport(formatAgentReport(report))).toEqual(report);
      }),
    );
  });

  it.each([undefined, '', '{', '[]', '{"a":1,"b":{"serving":"yes"}}'])('of %j nothing is known', (text) => {
    expect(parseAgentReport(text)).toEqual(new Map());
  });

  it('has addresses as people write them, and everything of them when it is read', () => {
    const report = new Map([['a/p', FULL]]);
    expect(formatAgentReport(report)).toContain('"address":"10.0.0.9"');
    expect(parseAgentReport(formatAgentReport(report))).toEqual(report);
  });

  it('that only goes by another version of a pool is no news', () => {
    const [one, other] = ['17', '18'].map((version) => describeAgentReport(new Map([['a/p', { ...FULL, version }]])));
    expect(one).toBe(other);
    expect(describeAgentReport(new Map([['a/p', { ...FULL, serving: true }]]))).not.toBe(one);
  });

  it('leaves out conflicts and servers that make no sense', () => {
    const conflicts = [{ address: 'x', macAddress: '02:00:00:00:00:01' }, 7, { address: '10.0.0.1' }];
    const foreignServers = [{ address: 'nobody' }, null];
    const text = JSON.stringify({ 'a/p': { serving: true, conflicts, foreignServers } });
    expect(parseAgentReport(text)).toEqual(new Map([['a/p', { serving: true, foreignServers: [] }]]));
  });
});
