import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  ipPoolResource,
  parseObject,
  toCustomResourceDefinition,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from './index.js';

const upstreamExample = () => ({
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'IPPool',
  metadata: { name: 'net-48', namespace: 'default' },
  spec: {
    networkName: 'default/net-48',
    ipv4Config: {
      serverIP: '192.168.48.77',
      cidr: '192.168.48.0/24',
      pool: { start: '192.168.48.81', end: '192.168.48.90', exclude: ['192.168.48.81', '192.168.48.90'] },
      router: '192.168.48.1',
      dns: ['1.1.1.1'],
      leaseTime: 300,
    } as Record<string, unknown>,
  },
});

describe('IPPool', () => {
  it('accepts everything that upstream accepts', () => {
    expect(parseObject(upstreamExample())).toMatchObject({ ok: true, unknownFields: [] });
  });

  it.each([
    ['dns', ['1.1.1'], ['spec', 'ipv4Config', 'dns', 0]],
    ['cidr', '192.168.48.0', ['spec', 'ipv4Config', 'cidr']],
    ['serverIP', '192.168.48.777', ['spec', 'ipv4Config', 'serverIP']],
    ['mtu', 1, ['spec', 'ipv4Config', 'mtu']],
    ['reservations', [{ macAddress: 'x', ipAddress: '192.168.48.5' }], ['spec', 'ipv4Config', 'reservations', 0, 'macAddress']],
  ])('refuses a wrong %s and names the field', (field, value, path) => {
    const object = upstreamExample();
    object.spec.ipv4Config[field] = value;
    expect(parseObject(object)).toMatchObject({ ok: false, problems: [{ path }] });
  });

  it('names unknown fields', () => {
    const object = upstreamExample();
    object.spec.ipv4Config['leasetime'] = 5;
    expect(parseObject(object)).toMatchObject({ ok: true, unknownFields: [{ path: ['spec', 'ipv4Config', 'leasetime'] }] });
  });

  it.each([null, 3, 'x', [], {}, { kind: 'Pod' }, { kind: '__proto__' }])('names what %j lacks', (value) => {
    expect(parseObject(value).ok).toBe(false);
  });
});

describe('generated files', () => {
  it.each([ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource])(
    'crds/$plural.yaml is what `npm run generate` writes',
    (resource) => {
      const written = readFileSync(new URL(`../crds/${resource.plural}.yaml`, import.meta.url), 'utf8');
      const options = { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;
      expect(written).toBe(stringify(toCustomResourceDefinition(resource), options));
    },
  );
});
