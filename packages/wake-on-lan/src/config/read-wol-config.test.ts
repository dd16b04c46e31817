import { describe, expect, it } from 'vitest';
import { DEFAULT_TOLERATIONS } from './agent-placement.js';
import { readWolConfig } from './read-wol-config.js';
import { readConfig, wolConfigObject } from './wol-config-fixtures.js';
import { describeWolConfigProblem } from './wol-config-problem.js';

const mapping = (macAddress: string, namespace = 'lab') => ({ macAddress, vmName: 'vm-a', namespace });

function problemsOf(spec: Readonly<Record<string, unknown>>): readonly string[] {
  const reading = readWolConfig(wolConfigObject('office', spec));
  return reading.ok ? [] : reading.problems.map(describeWolConfigProblem);
}

describe('a WolConfig of the predecessor', () => {
  it('allows all machines on port 9, on every node that accepts pods, if it is empty', () => {
    const { metadata } = wolConfigObject('office');
    const reading = readWolConfig({ metadata });
    expect(reading).toMatchObject({
      ok: true,
      config: { name: 'office', allows: { mode: 'All', namespaces: [] }, policy: { unpauses: false }, ports: [9] },
    });
    const { agent } = readConfig('office');
    expect(agent).toEqual({
      nodeSelector: {},
      tolerations: DEFAULT_TOLERATIONS,
      interfaces: [],
      isPromiscuous: false,
      hasFrames: true,
      passwordSecret: undefined,
      pod: { imagePullPolicy: 'IfNotPresent' },
      holdsImage: false,
    });
  });

  it('names its machines in each mode', () => {
    const selector = { matchLabels: { wake: 'yes' }, matchExpressions: [{ key: 'zone', operator: 'Exists' }] };
    const labelled = readConfig('x', { discoveryMode: 'LabelSelector', vmSelector: selector, namespaceSelectors: ['lab'] });
    expect(labelled.allows).toEqual({ name: 'x', mode: 'LabelSelector', namespaces: ['lab'], selector });
    const explicit = readConfig('x', { discoveryMode: 'Explicit', explicitMappings: [mapping('02-00-5E-10-00-01')] });
    expect(explicit.allows).toMatchObject({
      mode: 'Explicit',
      mappings: [{ macAddress: '02-00-5E-10-00-01', namespace: 'lab', name: 'vm-a' }],
    });
  });

  it('opens a port that is written twice once', () => {
    expect(readConfig('x', { wolPorts: [9, 7, 9] }).ports).toEqual([9, 7]);
  });
});

describe('problems of a WolConfig', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string[]]>([
    ['a port', { wolPorts: [9, 70_000] }, ['spec.wolPorts[1]: invalid WOL port 70000; write a number from 1 to 65535']],
    [
      'LabelSelector without selector',
      { discoveryMode: 'LabelSelector' },
      ['spec.vmSelector: VMSelector is required for discoveryMode LabelSelector; write the labels of the virtual machines'],
    ],
    [
      'Explicit without mappings',
      { discoveryMode: 'Explicit' },
      ['spec.explicitMappings: ExplicitMappings is required for discoveryMode Explicit; list the virtual machines'],
    ],
    [
      'selectors that Kubernetes refuses',
      {
        discoveryMode: 'LabelSelector',
        vmSelector: {
          matchExpressions: [
            { key: 'a', operator: 'Near' },
            { key: 'a', operator: 'NotIn', values: [] },
            { key: 'a', operator: 'Exists', values: ['x'] },
          ],
        },
      },
      [
        'spec.vmSelector.matchExpressions[0]: operator Near is unknown; use In, NotIn, Exists or DoesNotExist',
        'spec.vmSelector.matchExpressions[1]: operator NotIn needs values; list at least one',
        'spec.vmSelector.matchExpressions[2]: operator Exists takes no values; remove them',
      ],
    ],
    [
      'agents',
      {
        agent: {
          imagePullPolicy: 'Sometimes',
          updateStrategy: { type: 'All' },
          resources: { limits: { cpu: 'two', memory: 1 } },
        },
      },
      [
        'spec.agent.imagePullPolicy: "Sometimes" is not allowed here; write Always or IfNotPresent or Never',
        'spec.agent.updateStrategy.type: "All" is not allowed here; write RollingUpdate or OnDelete',
        'spec.agent.resources.limits.cpu: "two" is not a quantity; write it as in 100m or 64Mi',
      ],
    ],
    [
      'what no definition would store',
      { wolPorts: '9', explicitMappings: [{ macAddress: 'odd', vmName: 'a', namespace: 'b' }] },
      [
        'spec.explicitMappings[0].macAddress: "odd" is not a MAC address; write six hexadecimal octets, as in 02:00:5e:10:00:01',
        'spec.wolPorts: "9" is text, not a list; write a list, each entry on a line that begins with "- "',
      ],
    ],
  ])('%s: lists every problem, in words', (_, spec, problems) => {
    expect(problemsOf(spec)).toEqual(problems);
  });

  it('lists all problems of a specification together', () => {
    expect(problemsOf({ discoveryMode: 'Explicit', wolPorts: [0], agent: { imagePullPolicy: '' } })).toHaveLength(3);
  });

  it('mappings that allow nothing are reported, and the others work', () => {
    const explicitMappings = [mapping('ff:ff:ff:ff:ff:ff'), mapping('02:00:5e:10:00:01', 'prod'), mapping('02:00:5e:10:00:02')];
    const { ignoredMappings } = readConfig('x', { discoveryMode: 'Explicit', namespaceSelectors: ['lab'], explicitMappings });
    expect(ignoredMappings).toEqual([
      'mapping of lab/vm-a: "ff:ff:ff:ff:ff:ff" is not the MAC address of a machine; write six octets',
      'mapping of prod/vm-a: namespace prod is not in namespaceSelectors; add it, or remove the mapping',
    ]);
  });
});
