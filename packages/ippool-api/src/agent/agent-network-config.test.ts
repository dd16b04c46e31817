import { parseAgentNetworkConfigs } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';

describe('parseAgentNetworkConfigs', () => {
  it.each([
    ['no JSON', '[{'],
    ['no array', '{}'],
  ])('%s', (_, text) => {
    const problem =
      'AGENT_NETWORK_CONFIGS is not a JSON array; the controller writes it, so find out what else changes the pod template';
    expect(parseAgentNetworkConfigs(text)).toEqual({ ok: false, problem });
  });

  it('an invalid entry is left out, and the others are served', () => {
    const entry = (interfaceName: string, ipPoolRef: string) => ({ interfaceName, ipPoolRef });
    const parsed = parseAgentNetworkConfigs(
      JSON.stringify([
        entry('a', 'x/y'),
        entry('b', 'x/y'),
        entry('a', 'x/z'),
        entry('waytoolonginterface; rm', 'x/w'),
        entry('c', 'y'),
        7,
        entry('d', 'x/v'),
      ]),
    );
    expect(parsed).toMatchObject({
      ok: true,
      configs: [{ ipPoolRef: 'x/y' }, { ipPoolRef: 'x/v' }],
      problems: [
        'AGENT_NETWORK_CONFIGS[1] is left out: x/y has an interface already',
        'AGENT_NETWORK_CONFIGS[2] is left out: a serves x/y already',
        'AGENT_NETWORK_CONFIGS[3] is left out: "waytoolonginterface; rm" is not an interface name',
        'AGENT_NETWORK_CONFIGS[4] is left out: it has no ipPoolRef (namespace/name)',
        'AGENT_NETWORK_CONFIGS[5] is left out: it has no ipPoolRef (namespace/name)',
      ],
    });
  });

  it('every field is read; upstream names a pool by ipPoolName', () => {
    const config = { interfaceName: 'net1', serverIP: '10.0.0.2', cidr: '10.0.0.0/24', nadName: 'default/net' };
    const read = { ...config, ipPoolName: 'default/pool', ipPoolRef: 'default/pool' };
    for (const names of [
      { ipPoolRef: 'default/pool' },
      { ipPoolName: 'default/pool' },
      { ipPoolRef: 'default/pool', ipPoolName: 'x/y' },
    ]) {
      expect(parseAgentNetworkConfigs(JSON.stringify([{ ...config, ...names }]))).toEqual({
        ok: true,
        configs: [read],
        problems: [],
      });
    }
  });

  it.each([
    ['namespace/name', true],
    ['name', false],
    ['a/b/c', false],
    ['a/b c', false],
    [' a/b', false],
    ['/b', false],
  ])('ipPoolRef %j: readable %s', (ipPoolRef, isRead) => {
    const parsed = parseAgentNetworkConfigs(JSON.stringify([{ interfaceName: 'net1', ipPoolRef }]));
    expect(parsed).toMatchObject({ configs: isRead ? [{ ipPoolRef }] : [] });
  });

  it.each([
    ['net0123456789ab', true],
    ['net0123456789abc', false],
    ['', false],
    ['a_b.c-D', true],
    ['a b', false],
    ['a/b', false],
  ])('interfaceName %j: readable %s', (interfaceName, isRead) => {
    const parsed = parseAgentNetworkConfigs(JSON.stringify([{ interfaceName, ipPoolRef: 'a/b' }]));
    expect(parsed).toMatchObject({ configs: isRead ? [{ interfaceName, serverIP: '', cidr: '', nadName: '' }] : [] });
  });

  it.each([undefined, '', ' ', '[]'])('%j: nothing to serve', (text) => {
    expect(parseAgentNetworkConfigs(text)).toEqual({ ok: true, configs: [], problems: [] });
  });
});
