import type { AddressChain, ChainLink } from '@vmdhcp/explain';
import { describe, expect, it } from 'vitest';
import { formatChain, recordLines } from './format-chain.js';
import { NO_TERMINAL } from './terminal.js';

const ok = (link: ChainLink['link'], facts: string): ChainLink => ({ link, state: 'ok', facts, findings: [] });
const FULL: ChainLink = {
  link: 'address',
  state: 'broken',
  facts: 'none is recorded for the interface',
  findings: [{ reason: 'PoolExhausted', state: 'broken', message: 'every address is in use', remedy: 'raise the end' }],
};

function chain(links: readonly ChainLink[], more: Partial<AddressChain> = {}, address?: string): AddressChain {
  const broken = links.find(({ state }) => state === 'broken');
  const one = { interface: 'default', network: 'default/net', state: broken?.state ?? 'ok', links } as const;
  return {
    namespace: 'default',
    name: 'web',
    state: one.state,
    links: [{ ...ok('virtual-machine', 'Running'), object: 'VirtualMachine default/web' }],
    interfaces: [{ ...one, ...(address !== undefined && { address }), ...(broken && { brokenAt: broken.link }) }],
    missingRights: [],
    furtherEvents: [],
    furtherPackets: [],
    ...more,
  };
}

describe('the way to an address, for people', () => {
  it('begins with the answer, and marks the first broken link with its reason and what to do', () => {
    expect(formatChain(chain([ok('interface', '02:00:00:00:00:0a'), FULL, ok('agents', 'serves the pool')]), NO_TERMINAL)).toBe(
      `default/web, interface default: has no address on network default/net: PoolExhausted

default/web
  ✓ virtual machine VirtualMachine default/web: Running

interface default
├─ ✓ interface       02:00:00:00:00:0a
├─ ✗ address         none is recorded for the interface  <- broken here
│      PoolExhausted: every address is in use
│        what to do: raise the end
└─ ✓ agents          serves the pool
`,
    );
  });

  it('has both in the answer if an address is assigned but not served', () => {
    const [first] = formatChain(chain([FULL], {}, '10.1.0.10'), NO_TERMINAL).split('\n');
    expect(first).toBe('default/web, interface default: 10.1.0.10 is assigned to it, but the way to it is broken: PoolExhausted');
    expect(formatChain(chain([ok('address', '10.1.0.10')], {}, '10.1.0.10'), NO_TERMINAL)).toContain(
      'has 10.1.0.10 on network default/net',
    );
  });

  it('has the width and colours of a terminal', () => {
    const lines = formatChain(chain([FULL]), { columns: 40, hasColour: true }).split('\n');
    expect(lines.some((line) => line.includes('\u001b[31m✗\u001b[0m'))).toBe(true);
    const long = {
      ...FULL,
      findings: [{ ...FULL.findings[0], message: 'word '.repeat(30).trim() } as ChainLink['findings'][number]],
    };
    const wrapped = formatChain(chain([long]), { columns: 60, hasColour: false }).split('\n');
    expect(wrapped.filter((line) => line.includes('word')).length).toBeGreaterThan(2);
  });

  it('lists the missing rights', () => {
    const right = { verb: 'get', resource: 'ippools', group: 'network.harvesterhci.io', namespace: 'default' } as const;
    expect(formatChain(chain([], { missingRights: [right] }), NO_TERMINAL)).toContain(
      '  cannot get ippools.network.harvesterhci.io in namespace default: ask for the verb get on it\n',
    );
  });
});

it('what pools record about an address, one line each', () => {
  const record = { pool: 'default/pool', network: 'default/net', address: '10.1.0.9' } as const;
  expect(recordLines('10.1.0.9', [{ ...record, state: 'reserved', macAddress: '02:00:00:00:00:0a' }])).toEqual([
    '10.1.0.9 of IPPool default/pool: reserved for 02:00:00:00:00:0a',
  ]);
  expect(recordLines('10.1.0.9', [{ ...record, state: 'quarantined', usedBy: '02:00:00:00:00:0b' }])).toEqual([
    '10.1.0.9 of IPPool default/pool: quarantined: another machine uses it, in use by 02:00:00:00:00:0b',
  ]);
  expect(recordLines('10.9.0.9', [])).toEqual(['10.9.0.9: no pool has it']);
});
