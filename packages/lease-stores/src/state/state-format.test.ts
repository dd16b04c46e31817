import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatState, parseState, type StateToSave } from './state-format.js';

const state: StateToSave = {
  pools: new Map([
    [
      'default/net-48',
      {
        assignments: [
          { macAddress: '02:00:00:00:00:0a', address: 0x0a00000a },
          { macAddress: '02:00:00:00:00:0b', address: 0x0a00000b, hostname: 'printer' },
        ],
        quarantines: [{ address: 0x0a00000c, untilMs: 1_700_000_000_000 }],
      },
    ],
    ['default/empty', { assignments: [], quarantines: [] }],
  ]),
  owners: new Map([['default/net-48', new Map([['02:00:00:00:00:0a', 'default/vm-a']])]]),
  expiryOf: (_, mac) => (mac.endsWith('0a') ? 1_700_000_000_000 : Number.POSITIVE_INFINITY),
};
const text = [...formatState(state)].join('');

describe('a state file', () => {
  it('says what it is, and has lines that a person can read', () => {
    expect(text.split('\n').slice(0, 3)).toEqual([
      'vmdhcp-agent-state 1',
      '{"pool":"default/net-48"}',
      '{"pool":"default/net-48","mac":"02:00:00:00:00:0a","address":"10.0.0.10","owner":"default/vm-a","expires":"2023-11-14T22:13:20.000Z"}',
    ]);
  });

  it('keeps everything that was put in', () => {
    const reading = parseState(text);
    if (!reading.ok) throw new Error(reading.reason);
    expect(reading.state.pools).toEqual(state.pools);
    expect(reading.state.owners).toEqual(state.owners);
    expect(reading.state.expiries.get('default/net-48')?.get('02:00:00:00:00:0a')).toBe(1_700_000_000_000);
    expect(reading.state.expiries.get('default/net-48')?.get('02:00:00:00:00:0b')).toBe(Number.POSITIVE_INFINITY);
  });

  it('is read in the previous version, which knew no owners', () => {
    // As that version wrote it: the checksum matches its text.
    const written = [
      'vmdhcp-agent-state 1',
      '{"pool":"default/net-48"}',
      '{"pool":"default/net-48","mac":"02:00:00:00:00:0a","address":"10.0.0.10","expires":"2023-11-14T22:13:20.000Z"}',
      '{"pool":"default/net-48","mac":"02:00:00:00:00:0b","address":"10.0.0.11","hostname":"printer","expires":"never"}',
      'sha256:ea8cba8127e3569f5a9cb707acbc368215e0abe14fd72de4618dfefb273b5d29',
      '',
    ].join('\n');
    expect(parseState(written)).toMatchObject({
      ok: true,
      state: {
        pools: new Map([
          ['default/net-48', { assignments: [{ address: 0x0a00000a }, { hostname: 'printer' }], quarantines: [] }],
        ]),
        owners: new Map(),
      },
    });
  });

  it('is the same when written in many pieces', () => {
    const assignments = Array.from({ length: 1_700 }, (_, index) => ({
      macAddress: `02:00:00:00:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`,
      address: 0x0a000000 + index,
    }));
    const pools = new Map([['net', { assignments, quarantines: [] }]]);
    const pieces = [...formatState({ pools, owners: new Map(), expiryOf: () => undefined })];
    expect(pieces.length).toBeGreaterThan(3);
    expect(parseState(pieces.join(''))).toEqual({ ok: true, state: { pools, expiries: new Map(), owners: new Map() } });
  });

  it('law: cut anywhere, or with any octet changed, it is refused', () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.boolean(), (at, cut) => {
        const harmed = cut ? text.slice(0, at) : `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
        expect(parseState(harmed).ok).toBe(false);
      }),
    );
  });
});
