import { describe, expect, it } from 'vitest';
import { toCustomResourceDefinition, wolConfig, wolConfigResource } from './index.js';

const config = (spec?: Record<string, unknown>) => ({
  apiVersion: 'wol.pillon.org/v1beta1',
  kind: 'WolConfig',
  metadata: { name: 'office' },
  ...(spec && { spec }),
});

describe('WolConfig', () => {
  it('an object of the predecessor is read, with its defaults', () => {
    const parsed = wolConfig.parse(
      config({
        explicitMappings: [{ macAddress: '02:00:5E:10:00:01', vmName: 'vm-a', namespace: 'lab' }],
        agent: { nodeSelector: { zone: 'a' }, resources: { limits: { cpu: 1, memory: '64Mi' } } },
      }),
    );
    expect(parsed.spec).toMatchObject({ discoveryMode: 'All', wolPorts: [9], cacheTTL: 300 });
    expect(parsed.spec?.agent).toMatchObject({ imagePullPolicy: 'IfNotPresent', resources: { limits: { cpu: 1 } } });
  });

  it.each([
    ['an invalid port, which the predecessor stored', { wolPorts: [70_000] }],
    ['Explicit without mappings, which the predecessor stored', { discoveryMode: 'Explicit' }],
    ['LabelSelector without selector, which the predecessor stored', { discoveryMode: 'LabelSelector' }],
    ['no spec at all', undefined],
  ])('reads %s', (_, spec) => {
    expect(wolConfig.safeParse(config(spec)).success).toBe(true);
  });

  it.each([
    ['discoveryMode', { discoveryMode: 'Some' }],
    ['wolPorts', { wolPorts: [] }],
    ['cacheTTL', { cacheTTL: -1 }],
    ['explicitMappings', { explicitMappings: [{ macAddress: 'odd', vmName: 'vm-a', namespace: 'lab' }] }],
    ['agent', { agent: { interfaces: ['two words'] } }],
  ])('refuses a wrong %s', (field, spec) => {
    const parsed = wolConfig.safeParse(config(spec));
    expect(parsed.error?.issues.map(({ path }) => path[1])).toContain(field);
  });
});

describe('the definition of WolConfig', () => {
  interface Definition {
    readonly metadata: { readonly name: string };
    readonly spec: {
      readonly scope: string;
      readonly versions: readonly [
        {
          readonly additionalPrinterColumns: readonly { readonly name: string; readonly jsonPath: string }[];
          readonly schema: {
            readonly openAPIV3Schema: { readonly required?: string[]; readonly 'x-kubernetes-validations': { rule: string }[] };
          };
        },
      ];
    };
  }
  const definition = toCustomResourceDefinition(wolConfigResource) as unknown as Definition;
  const [version] = definition.spec.versions;
  const schema = version.schema.openAPIV3Schema;

  it('has the name and scope of the predecessor, and its columns with the field that exists', () => {
    expect([definition.metadata.name, definition.spec.scope]).toEqual(['wolconfigs.wol.pillon.org', 'Cluster']);
    const columns = Object.fromEntries(version.additionalPrinterColumns.map(({ name, jsonPath }) => [name, jsonPath]));
    expect(columns).toMatchObject({ 'Discovery Mode': '.spec.discoveryMode', 'WOL Ports': '.spec.wolPorts' });
    expect(columns).toMatchObject({ 'Managed VMs': '.status.managedVMs', Age: '.metadata.creationTimestamp' });
  });

  it('accepts every stored object: no rule applies to an object with a status, and spec may be absent', () => {
    expect(schema.required).toBeUndefined();
    expect(schema['x-kubernetes-validations']).toHaveLength(3);
    for (const { rule } of schema['x-kubernetes-validations'])
      expect(rule).toMatch(/^has\(self\.status\) \|\| !has\(self\.spec\) \|\| /);
  });
});
