import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadWolConfig } from './read-wol-config.js';
import { describePortConflict, sharePorts } from './share-ports.js';
import { readConfig } from './wol-config-fixtures.js';

const zone = (value: string) => ({ nodeSelector: { zone: value } });

/** `own 9; shared 7 with old; conflict 5 with old` */
function describeAll(...configs: readonly ReadWolConfig[]): Record<string, string> {
  const entries = [...sharePorts(configs)].map(([name, { ports, hasFrames, shared, conflicts }]) => {
    const texts = [
      ports.length === 0 ? undefined : `own ${ports.join(', ')}${hasFrames ? ' and frames' : ''}`,
      ...[...shared].map(([port, other]) => `shared ${port} with ${other}`),
      ...conflicts.map(({ port, other, because }) => `conflict ${port} with ${other}: ${because}`),
    ];
    return [name, texts.filter((text) => text !== undefined).join('; ')] as const;
  });
  return Object.fromEntries(entries);
}

describe('UDP ports of several WolConfigs', () => {
  it('a single WolConfig has all of its ports', () => {
    expect(describeAll(readConfig('old', { wolPorts: [9, 7] }))).toEqual({ old: 'own 9, 7 and frames' });
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>, string]>([
    ['the same nodes share', {}, {}, 'shared 9 with old'],
    ['nodes of all nodes share', {}, { agent: zone('a') }, 'shared 9 with old'],
    ['all nodes against some conflict', { agent: zone('a') }, {}, 'conflict 9 with old: nodes'],
    [
      'nodes of two labels conflict',
      { agent: zone('a') },
      { agent: { nodeSelector: { disk: 'ssd' } } },
      'conflict 9 with old: nodes',
    ],
    ['two values of one label are other nodes', { agent: zone('a') }, { agent: zone('b') }, 'own 9 and frames'],
    ['another port is free', {}, { wolPorts: [7] }, 'own 7 and frames'],
    ['one port is shared, the other is free', {}, { wolPorts: [7, 9] }, 'own 7; shared 9 with old'],
    ['another password conflicts', {}, { passwordSecret: { name: 'x', key: 'y' } }, 'conflict 9 with old: settings'],
    ['other interfaces conflict', {}, { agent: { interfaces: ['mgmt-*'] } }, 'conflict 9 with old: settings'],
    ['promiscuous mode of the older one is enough', { agent: { promiscuous: true } }, {}, 'shared 9 with old'],
    ['promiscuous mode of the younger one is not', {}, { agent: { promiscuous: true } }, 'conflict 9 with old: settings'],
    ['frames of the younger one alone conflict', { agent: { frames: false } }, {}, 'conflict 9 with old: settings'],
    [
      'taints that only the younger one tolerates conflict',
      {},
      { agent: { tolerations: [{ operator: 'Exists' }] } },
      'conflict 9 with old: nodes',
    ],
    ['its image makes no difference', {}, { agent: { image: 'other:1' } }, 'shared 9 with old'],
  ])('%s', (_, old, young, expected) => {
    expect(describeAll(readConfig('young', young, 2), readConfig('old', old, 1))['young']).toBe(expected);
  });

  it('a port that was shared or refused is not shared further', () => {
    const configs = [readConfig('a', {}, 1), readConfig('b', {}, 2), readConfig('c', {}, 3)];
    expect(describeAll(...configs)).toEqual({ a: 'own 9 and frames', b: 'shared 9 with a', c: 'shared 9 with a' });
  });

  it('a conflict names the other WolConfig, the port, and what to do', () => {
    expect(describePortConflict({ port: 9, other: 'old', because: 'nodes' })).toMatch(
      /^UDP port 9 .* WolConfig old, .*; choose another UDP port/,
    );
    expect(describePortConflict({ port: 9, other: 'old', because: 'settings' })).toContain('or the same settings');
  });
});

const LABELS = { zone: ['a', 'b'], disk: ['ssd', 'hdd'] };
const anySelector = fc.record(
  { zone: fc.constantFrom(...LABELS.zone), disk: fc.constantFrom(...LABELS.disk) },
  { requiredKeys: [] },
);
const anyConfig = fc.record({
  ports: fc.uniqueArray(fc.constantFrom(7, 9, 4000), { minLength: 1 }),
  nodeSelector: anySelector,
  promiscuous: fc.boolean(),
  age: fc.nat(3),
});
const anyConfigs = fc
  .array(anyConfig, { minLength: 1, maxLength: 5 })
  .map((all) =>
    all.map(({ ports, nodeSelector, promiscuous, age }, index) =>
      readConfig(`c${index}`, { wolPorts: ports, agent: { nodeSelector, promiscuous } }, age),
    ),
  );
/** Every node that the labels can make, and one without labels. */
const NODES = [
  {},
  ...LABELS.zone.flatMap((zoneName) => [{ zone: zoneName }, ...LABELS.disk.map((disk) => ({ zone: zoneName, disk }))]),
  ...LABELS.disk.map((disk) => ({ disk })),
] as readonly Readonly<Record<string, string>>[];
const runsOn = ({ agent }: ReadWolConfig, node: Readonly<Record<string, string>>) =>
  Object.entries(agent.nodeSelector).every(([label, value]) => node[label] === value);

describe('laws of shared ports', () => {
  it('no two agents on one node open the same UDP port', () => {
    fc.assert(
      fc.property(anyConfigs, (configs) => {
        const listening = sharePorts(configs);
        for (const node of NODES) {
          const opened = configs.filter((one) => runsOn(one, node)).flatMap(({ name }) => listening.get(name)?.ports ?? []);
          expect(new Set(opened).size).toBe(opened.length);
        }
      }),
    );
  });

  it('a port without conflict is open on every node of its WolConfig', () => {
    fc.assert(
      fc.property(anyConfigs, (configs) => {
        const listening = sharePorts(configs);
        for (const config of configs) {
          const { ports = [], shared = new Map(), conflicts = [] } = listening.get(config.name) ?? {};
          expect(new Set([...ports, ...shared.keys(), ...conflicts.map(({ port }) => port)])).toEqual(new Set(config.ports));
          for (const [port, other] of shared) {
            const opener = configs.find(({ name }) => name === other) as ReadWolConfig;
            expect(listening.get(other)?.ports).toContain(port);
            for (const node of NODES) if (runsOn(config, node)) expect(runsOn(opener, node)).toBe(true);
          }
        }
      }),
    );
  });

  it('the order of WolConfigs makes no difference', () => {
    fc.assert(
      fc.property(anyConfigs, (configs) => {
        const sorted = (all: readonly ReadWolConfig[]) =>
          [...sharePorts(all)].toSorted(([one], [other]) => (one < other ? -1 : 1));
        expect(sorted(configs.toReversed())).toEqual(sorted(configs));
      }),
    );
  });
});
