import { formatAgentLogSettings, parseAgentLogSettings, readPoolLogSettings } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';

describe('what agents log', () => {
  it.each([
    [{}, undefined],
    [{ level: 'debug' as const }, '{"level":"debug"}'],
    [{ packets: true }, '{"packets":true}'],
    [{ level: 'warn' as const, packets: false }, '{"level":"warn","packets":false}'],
  ])('%j is written to a Lease as %s, and read back', (settings, text) => {
    expect(formatAgentLogSettings(settings)).toBe(text);
    expect(parseAgentLogSettings(text)).toEqual(settings);
  });

  it.each(['', 'no', '[]', '{"level":"loud","packets":"yes"}', '{"level":7}'])('%j sets nothing', (text) => {
    expect(parseAgentLogSettings(text)).toEqual({});
  });

  it('a pool sets its own, and a value that cannot be read is named', () => {
    const [level, packets] = ['network.harvesterhci.io/log-level', 'network.harvesterhci.io/log-packets'];
    expect(readPoolLogSettings({})).toEqual({ settings: {}, problems: [] });
    expect(readPoolLogSettings({ [level]: 'debug', [packets]: 'true' })).toEqual({
      settings: { level: 'debug', packets: true },
      problems: [],
    });
    expect(readPoolLogSettings({ [level]: 'loud', [packets]: 'yes' })).toEqual({
      settings: {},
      problems: [
        {
          key: level,
          value: 'loud',
          message: `annotation ${level} is "loud"`,
          remedy: 'write one of trace, debug, info, warn, error, silent',
        },
        { key: packets, value: 'yes', message: `annotation ${packets} is "yes"`, remedy: 'write "true" or "false"' },
      ],
    });
  });
});
