import { describe, expect, it } from 'vitest';
import { parseAgentNetworkConfigs } from './agent-network-config.js';

describe('parseAgentNetworkConfigs', () => {
  it.each([
    ['no JSON', '[{'],
    ['no array', '{}'],
  ])('%s', (_, text) => {
    const problem = 'AGENT_NETWORK_CONFIGS is no JSON array; the controller writes it, so look who else does';
    expect(parseAgentNetworkConfigs(text)).toEqual({ ok: false, problem });
  });

  it('an entry that makes no sense is left out, and the others are served', () => {
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
        'AGENT_NETWORK_CONFIGS[3] is left out: "waytoolonginterface; rm" is no name of an interface',
        'AGENT_NETWORK_CONFIGS[4] is left out: it names no ipPoolRef (namespace/name)',
        'AGENT_NETWORK_CONFIGS[5] is left out: it names no ipPoolRef (namespace/name)',
      ],
    });
  });

  it.each([undefined, '', '[]'])('%j: nothing to serve', (text) => {
    expect(parseAgentNetworkConfigs(text)).toEqual({ ok: true, configs: [], problems: [] });
  });
});
