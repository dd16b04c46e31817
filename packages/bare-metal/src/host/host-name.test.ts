import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostStatusName, isLabelValue, isObjectName, parseHostStatusName } from './host-name.js';

describe('the name of a HostStatus', () => {
  it.each<[name: string, expected: { clusterAgent: string; address: string } | undefined]>([
    ['agent-10-0-0-5', { clusterAgent: 'agent', address: '10.0.0.5' }],
    ['agent-7-10-0-0-5', { clusterAgent: 'agent-7', address: '10.0.0.5' }],
    ['1-2-3-4-5', { clusterAgent: '1', address: '2.3.4.5' }],
    ['10-0-0-5', undefined],
    ['agent-10-0-0-256', undefined],
    ['agent-10-0-0-05', undefined],
    ['agent', undefined],
  ])('%s', (name, expected) => expect(parseHostStatusName(name)).toEqual(expected));

  it('law: it is unambiguous, even if names of ClusterAgents end with numbers', () => {
    const agent = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
    fc.assert(
      fc.property(agent, fc.ipV4(), (clusterAgent, address) => {
        const name = hostStatusName(clusterAgent, address);
        expect(isObjectName(name)).toBe(true);
        expect(parseHostStatusName(name)).toEqual({ clusterAgent, address });
      }),
    );
  });

  it.each([
    ['a'.repeat(253), true],
    ['a'.repeat(254), false],
    ['a-', false],
    ['A', false],
    ['a..b', false],
    ['', false],
  ])('the API server takes %s: %s', (name, expected) => expect(isObjectName(name)).toBe(expected));

  it.each([
    ['', true],
    ['10.0.0.5', true],
    ['::1', false],
    ['a'.repeat(63), true],
    ['a'.repeat(64), false],
    ['-a', false],
  ])('%s as a label value: %s', (value, expected) => expect(isLabelValue(value)).toBe(expected));
});
