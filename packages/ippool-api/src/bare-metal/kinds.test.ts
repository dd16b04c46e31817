import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { toCustomResourceDefinition } from '../index.js';
import { bareMetalResources, type ClusterAgent, type HostEndpoint, type HostStatus, parseBareMetalObject } from './index.js';

const of = (kind: string, fields: object, name = 'a') => ({
  apiVersion: 'bmc.spidernet.io/v1beta1',
  kind,
  metadata: { name },
  ...fields,
});

/** What the chart of the predecessor installs. */
const DHCP = {
  dhcpServerInterface: 'net1',
  subnet: '192.168.0.0/24',
  ipRange: '192.168.0.10-192.168.0.100',
  gateway: '192.168.0.1',
  selfIp: '192.168.0.2/24',
};
const agentWith = (dhcpServerConfig: object) =>
  of('ClusterAgent', {
    spec: {
      agentYaml: { underlayInterface: 'ns/net' },
      endpoint: {},
      feature: { dhcpServerConfig: { ...DHCP, ...dhcpServerConfig } },
    },
  });

function read<Kind>(value: unknown): Kind {
  const parsed = parseBareMetalObject(value);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  expect(parsed.unknownFields).toEqual([]);
  return parsed.object as Kind;
}

function sentencesOf(value: unknown): string[] {
  const parsed = parseBareMetalObject(value);
  return parsed.ok ? [] : parsed.problems.map(({ path, message, remedy }) => `${path.join('.')}: ${message}; ${remedy}`);
}

describe('what the predecessor stored is read', () => {
  it('a ClusterAgent, with the defaults of its definition', () => {
    const { spec } = read<ClusterAgent>(agentWith({}));
    expect(spec.agentYaml.replicas).toBe(1);
    expect(spec.endpoint).toEqual({ port: 443, https: true });
    expect(spec.feature).toMatchObject({
      enableDhcpServer: true,
      dhcpServerConfig: { enableDhcpDiscovery: true, enableBindDhcpIP: true, enableBindStaticIP: true },
    });
  });

  it.each([
    ['octets above 255', { subnet: '999.999.999.999/24', gateway: '999.1.1.1', ipRange: '999.0.0.1-999.0.0.2' }],
    ['a selfIp without prefix, as an early version had it', { selfIp: '192.168.0.2' }],
    ['a range outside of the subnet', { ipRange: '10.0.0.1-10.0.0.2' }],
  ])('a ClusterAgent with %s', (_, config) => {
    expect(read<ClusterAgent>(agentWith(config)).kind).toBe('ClusterAgent');
  });

  it('a ClusterAgent with what clients receive besides their address, named as in an IPPool', () => {
    const options = {
      ...{ dns: ['192.168.0.53'], domainName: 'bmc.example', ntp: ['192.168.0.123'], leaseTime: 3600 },
      ...{ nextServer: '192.168.0.3', bootfile: 'pxelinux.0' },
      bootByArchitecture: [{ architecture: 7, bootfile: 'ipxe.efi' }],
    };
    expect(read<ClusterAgent>(agentWith(options)).spec.feature?.dhcpServerConfig).toMatchObject(options);
  });

  it('a HostEndpoint, with its defaults', () => {
    expect(read<HostEndpoint>(of('HostEndpoint', { spec: { ipAddr: '10.0.0.9' } })).spec).toEqual({
      ipAddr: '10.0.0.9',
      https: true,
      port: 443,
    });
  });

  it.each<[what: string, status: object | undefined]>([
    [
      'that is complete',
      { healthy: true, clusterAgent: 'a', basic: { type: 'dhcp', ipAddr: '10.0.0.9', port: 443, https: true }, info: {} },
    ],
    ['as the design has it', { healthReady: true, clusterAgent: 'a', info: { os: 'linux' } }],
    ['without status', undefined],
    [
      'with a MAC address only',
      { healthy: false, clusterAgent: '', basic: { type: '', ipAddr: '', port: 0, https: false, mac: 'x' } },
    ],
  ])('a HostStatus %s', (_, status) => {
    expect(read<HostStatus>(of('HostStatus', status === undefined ? {} : { status })).status).toEqual(status);
  });
});

describe('reports all problems at once', () => {
  it.each<[value: unknown, sentences: string[]]>([
    [
      of('ClusterAgent', {
        spec: { agentYaml: { replicas: -1 }, endpoint: { port: 0 }, feature: { dhcpServerConfig: { subnet: 'x' } } },
      }),
      [
        'spec.agentYaml.replicas: -1 is too small; write at least 0',
        'spec.endpoint.port: 0 is too small; write at least 1',
        'spec.feature.dhcpServerConfig.dhcpServerInterface: is missing; write text',
        'spec.feature.dhcpServerConfig.subnet: "x" is not an IPv4 subnet; write address/prefix length, as in 192.168.0.0/24',
        'spec.feature.dhcpServerConfig.ipRange: is missing; write text',
        'spec.feature.dhcpServerConfig.gateway: is missing; write text',
      ],
    ],
    [
      of('HostEndpoint', { spec: { ipAddr: '999.999.999.999' } }),
      ['spec.ipAddr: "999.999.999.999" is not an IPv4 address; write four numbers of 0 to 255, as in 192.168.48.10'],
    ],
    [
      // YAML 1.1 reads `action: On` as true.
      of('HostOperation', { spec: { action: true } }),
      [
        'spec.action: true is not allowed here; write ForceOn or On or ForceOff or GracefulShutdown or ForceRestart or GracefulRestart or PxeReboot; in quotes: YAML reads the bare words on, off, yes and no as true and false',
        'spec.hostStatusName: is missing; write text',
      ],
    ],
    [
      of('IPPool', {}),
      ['kind: "IPPool" is not a kind that is read here; write one of ClusterAgent, HostEndpoint, HostStatus, HostOperation'],
    ],
  ])('%#', (value, sentences) => expect(sentencesOf(value)).toEqual(sentences));

  it('a misspelled field too', () => {
    const { unknownFields } = parseBareMetalObject(agentWith({ enableDhcpDiscover: true }));
    expect(unknownFields.map(({ path, suggestion }) => [path.at(-1), suggestion])).toEqual([
      ['enableDhcpDiscover', 'enableDhcpDiscovery'],
    ]);
  });
});

describe('definitions', () => {
  interface Definition {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly scope: string; readonly names: object; readonly versions: readonly [Version] };
  }
  interface Version {
    readonly name: string;
    readonly subresources?: object;
    readonly additionalPrinterColumns: readonly { readonly name: string }[];
  }
  const definitions = bareMetalResources.map((one) => toCustomResourceDefinition(one) as unknown as Definition);

  it.each(bareMetalResources)('crds/bare-metal/$plural.yaml is what `npm run generate` writes', (resource) => {
    const written = readFileSync(new URL(`../../crds/bare-metal/${resource.plural}.yaml`, import.meta.url), 'utf8');
    const options = { lineWidth: 120, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const;
    expect(written).toBe(stringify(toCustomResourceDefinition(resource), options));
  });

  it('have the names, scope, version and columns of the predecessor', () => {
    expect(
      definitions.map(({ metadata, spec: { scope, versions } }) => {
        const [{ name, additionalPrinterColumns }] = versions;
        return [metadata.name, scope, name, additionalPrinterColumns.map((one) => one.name).join(' ')];
      }),
    ).toEqual([
      ['clusteragents.bmc.spidernet.io', 'Cluster', 'v1beta1', 'READY'],
      ['hostendpoints.bmc.spidernet.io', 'Cluster', 'v1beta1', 'CLUSTERAGENT HOSTIP'],
      ['hoststatuses.bmc.spidernet.io', 'Cluster', 'v1beta1', 'CLUSTERAGENT HEALTHY IPADDR TYPE AGE'],
      ['hostoperations.bmc.spidernet.io', 'Cluster', 'v1beta1', 'ACTION STATUS CLUSTERAGENT HOSTIP'],
      // The predecessor does not have this kind.
      ['leaseslices.bmc.spidernet.io', 'Namespaced', 'v1beta1', 'LEADER TERM AGE'],
    ]);
  });

  it('only a HostEndpoint and a LeaseSlice have no status', () => {
    expect(definitions.map(({ spec: { versions } }) => versions[0].subresources !== undefined)).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});

it('the names are loaded without the schemas', () => {
  const loads = (file: string): string[] => {
    const text = readFileSync(new URL(file, import.meta.url), 'utf8');
    const imports = [...text.matchAll(/^(?:import|export) (?!type)[^;]* from '([^']+)';$/gm)].map(([, path = '']) => path);
    return imports.flatMap((path) => (path.startsWith('.') ? [path, ...loads(path.replace('.js', '.ts'))] : [path]));
  };
  expect(loads('./keys.ts')).toEqual(['./host-conditions.js', './host-reasons.js']);
});
