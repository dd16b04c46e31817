import { describe, expect, it } from 'vitest';
import { configuredPools, findContainer, isConfigured } from './configured-pools.js';
import { activePool } from './group-fixtures.js';

const template = (containers: unknown) => ({ metadata: { name: 'd' }, spec: { template: { spec: { containers } } } });
const withValue = (value: unknown) =>
  template([
    { name: 'sidecar', env: [{ name: 'AGENT_NETWORK_CONFIGS', value: '[{"ipPoolRef":"x/y"}]' }] },
    {
      name: 'agent',
      env: [
        { name: 'OTHER', value: '[]' },
        { name: 'AGENT_NETWORK_CONFIGS', value },
        { name: 'AGENT_NETWORK_CONFIGS', value: '[]' },
      ],
    },
  ]);

describe('configuredPools', () => {
  it('are those that the container of the agents names first', () => {
    const entry = { ipPoolRef: 'default/a', nadName: 'default/net', serverIP: '10.0.0.2', cidr: '10.0.0.0/24' };
    expect([
      ...configuredPools(withValue(JSON.stringify([entry, { ipPoolRef: 'default/b' }, { nadName: 'x' }, 7])), 'agent'),
    ]).toEqual([
      ['default/a', { key: 'default/a', network: 'default/net', serverIP: '10.0.0.2', cidr: '10.0.0.0/24' }],
      ['default/b', { key: 'default/b', network: '', serverIP: '', cidr: '' }],
    ]);
  });

  it.each([undefined, 7, '', '{', '{}', 'null'])('%j configures none', (value) => {
    expect(configuredPools(withValue(value), 'agent').size).toBe(0);
  });

  it.each([undefined, [], [null], ['agent'], [{ name: 'other' }]])('without the container there are none: %j', (containers) => {
    expect(configuredPools(template(containers), 'agent').size).toBe(0);
    expect(findContainer(template(containers), 'agent')).toBeUndefined();
  });
});

describe('isConfigured', () => {
  const pool = activePool('default/a');

  it.each([
    ['as it is', pool, true],
    ['not at all', undefined, false],
    ['on another network', { ...pool, network: 'default/x' }, false],
    ['with another server address', { ...pool, serverIP: '10.0.0.3' }, false],
    ['with another subnet', { ...pool, cidr: '10.0.1.0/24' }, false],
  ])('%s', (_, configured, expected) => {
    expect(isConfigured(configured, pool)).toBe(expected);
  });
});
