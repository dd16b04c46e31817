import { describe, expect, it } from 'vitest';
import {
  type BareMetalHost,
  type MachineWithoutAddress,
  type PageAgentGroup,
  type PageReason,
  type PageWakeConfig,
  type PoolSummary,
  SECTIONS,
  type Section,
  type SectionAccess,
} from '../model/page-data.js';
import { type SeenSections, toAttention } from './attention.js';
import { toVerdict } from './verdict.js';

const reason = (name: string): PageReason => ({ reason: name, message: '', meaning: '', remedy: '' });
const NO_MACHINES = { rows: [], total: 0, broken: 0, continue: null };
const NO_HOSTS = { clusterAgents: [], hosts: [], counts: { ok: 0, broken: 0, unknown: 0 } };
const WELL = {
  pools: [],
  machines: NO_MACHINES,
  agents: { groups: [], followedSinceMs: 0 },
  'wake-on-lan': { configs: [] },
  hosts: NO_HOSTS,
} satisfies SeenSections;

const pool = (key: string, state: PoolSummary['state']) =>
  ({ key, state, reasons: [reason('PoolExhausted')] }) as unknown as PoolSummary;
const machine = (name: string, state: 'broken' | 'waiting') =>
  ({ namespace: 'default', name, state, reasons: [reason('NoPool')] }) as unknown as MachineWithoutAddress;
const group = (state: PageAgentGroup['state']) =>
  ({ namespace: 'agents', name: 'group-1', state, reasons: [reason('NotLeading')] }) as unknown as PageAgentGroup;
const host = (name: string, isHealthy: boolean | null) =>
  ({ name, isHealthy, reasons: [reason('HostUnhealthy')] }) as unknown as BareMetalHost;

describe('what needs attention', () => {
  it.each<[string, SeenSections, string]>([
    [
      'a group of agents without a leader',
      { agents: { groups: [group('broken')], followedSinceMs: 0 } },
      'Agents agents/group-1 NotLeading',
    ],
    [
      'a WolConfig whose port is taken',
      {
        'wake-on-lan': {
          configs: [{ name: 'office', state: 'broken', reasons: [reason('PortConflict')] } as unknown as PageWakeConfig],
        },
      },
      'WolConfig office PortConflict',
    ],
    [
      'a ClusterAgent whose agents fail',
      {
        hosts: {
          ...NO_HOSTS,
          clusterAgents: [{ name: 'rack-1', state: 'broken', reasons: [reason('HostAgentsFailed')], conditions: [] }],
        },
      },
      'ClusterAgent rack-1 HostAgentsFailed',
    ],
    [
      'a host that does not answer',
      { hosts: { ...NO_HOSTS, hosts: [host('host-1', false)], counts: { ok: 0, broken: 1, unknown: 0 } } },
      'Host host-1 HostUnhealthy',
    ],
    [
      'a virtual machine without an address',
      { machines: { ...NO_MACHINES, rows: [machine('web', 'broken')], total: 1, broken: 1 } },
      'Virtual machine default/web NoPool',
    ],
  ])('%s', (_, others, text) => {
    const { items } = toAttention({ ...WELL, ...others });
    expect(items.map(({ kind, name, reason: why }) => `${kind} ${name} ${why?.reason}`)).toEqual([text]);
  });

  it('items that need action come before items that wait, whatever their section', () => {
    const { items } = toAttention({
      pools: [pool('default/a', 'waiting'), pool('default/b', 'note')],
      machines: { ...NO_MACHINES, rows: [machine('web', 'waiting'), machine('db', 'broken')] },
      agents: { groups: [group('broken')], followedSinceMs: 0 },
    });
    expect(items.map(({ name }) => name)).toEqual(['default/db', 'agents/group-1', 'default/a', 'default/web', 'default/b']);
  });

  it('hosts that answer, or whose state is unknown, need no attention', () => {
    const hosts = [host('well', true), host('ill', false), host('unknown', null)];
    const { items, more } = toAttention({ hosts: { ...NO_HOSTS, hosts, counts: { ok: 1, broken: 1, unknown: 1 } } });
    expect(items.map(({ kind, name, state }) => `${kind} ${name} ${state}`)).toEqual(['Host ill broken']);
    expect(more).toEqual([]);
  });

  it('omitted items are counted', () => {
    const rows = ['a', 'b', 'c', 'd', 'e'].map((name) => machine(name, 'broken'));
    const hosts = { ...NO_HOSTS, hosts: [host('one', false)], counts: { ok: 0, broken: 3, unknown: 0 } };
    const { more } = toAttention({
      ...WELL,
      pools: Array.from({ length: 22 }, (_, index) => pool(`default/${index}`, 'broken')),
      machines: { rows, total: 9, broken: 6, continue: '5' },
      hosts,
    });
    expect(more.map(({ text }) => text)).toEqual([
      '2 more pools: see the table below',
      '4 more virtual machines without an address, of which 1 needs action',
      '2 more hosts need action',
    ]);
  });

  it('a group beside another DHCP server is reported through its pools', () => {
    expect(toAttention({ agents: { groups: [group('note')], followedSinceMs: 0 } }).items).toEqual([]);
  });
});

describe('if nothing needs attention', () => {
  const sections = (differences: Partial<Record<Section, SectionAccess>> = {}) =>
    ({
      ...Object.fromEntries(SECTIONS.map((section) => [section, { kind: 'shown' }])),
      ...differences,
    }) as Record<Section, SectionAccess>;

  it('says that everything was checked, or names the rest', () => {
    expect(toVerdict({ sections: sections(), unready: [] }, WELL)).toEqual({
      isWhole: true,
      verdict: 'Nothing needs attention.',
      notSeen: [],
    });
    const off = sections({ hosts: { kind: 'off' }, 'wake-on-lan': { kind: 'off' } });
    expect(toVerdict({ sections: off, unready: [] }, { pools: [], machines: NO_MACHINES, agents: WELL.agents }).isWhole).toBe(
      true,
    );
    const { hosts: _, ...others } = WELL;
    expect(toVerdict({ sections: sections(), unready: [] }, others)).toEqual({
      isWhole: false,
      verdict: 'Nothing needs attention in: pools, virtual machines, agents, Wake-on-LAN.',
      notSeen: ['bare-metal hosts (no answer now)'],
    });
    const denied = sections({ machines: { kind: 'denied', right: 'list virtualmachines' } });
    const { machines: __, ...rest } = WELL;
    expect(toVerdict({ sections: denied, unready: [] }, rest).notSeen).toEqual([
      'virtual machines (your user lacks the right to list virtualmachines)',
    ]);
  });

  it('claims nothing about sections that are not read yet', () => {
    const { isWhole, verdict } = toVerdict({ sections: sections(), unready: ['leases: not listed yet'] }, WELL);
    expect([isWhole, verdict]).toEqual([false, 'Nothing needs attention in what is known so far.']);
  });

  it('claims nothing about unread sections if a user lacks rights either', () => {
    const { hosts: _, ...seen } = WELL;
    const denied = sections({ hosts: { kind: 'denied', right: 'list hoststatuses' } });
    expect(toVerdict({ sections: denied, unready: ['pools: not listed yet'] }, seen)).toEqual({
      isWhole: false,
      verdict: 'Nothing needs attention in what is known so far.',
      notSeen: ['bare-metal hosts (your user lacks the right to list hoststatuses)'],
    });
  });

  it('tells a user without any right that nothing was checked', () => {
    const denied = Object.fromEntries(SECTIONS.map((section) => [section, { kind: 'denied', right: 'list it' }] as const));
    const { isWhole, verdict } = toVerdict({ sections: sections(denied), unready: [] }, {});
    expect([isWhole, verdict]).toEqual([false, 'Nothing was looked at.']);
  });
});
