/** What the API server refuses of the kinds of bare-metal hosts by itself, where no webhook runs, and what it must let pass. */
import { clusterAgentProblems, describeHostProblem } from '@vmdhcp/bare-metal';
import { toCustomResourceDefinition } from '@vmdhcp/ippool-api';
import { bareMetalResources } from '@vmdhcp/ippool-api/bare-metal';
import { type KubernetesObject, readField } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PrivateCluster, waitFor } from '../src/index.js';

let cluster: PrivateCluster;
let count = 0;

beforeAll(async () => {
  cluster = await PrivateCluster.start([]);
  for (const one of bareMetalResources)
    await cluster.admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  for (const { plural } of bareMetalResources)
    await waitFor(
      `${plural} to be served`,
      async () =>
        (await clientOf(plural)
          .list({ limit: 1 })
          .catch(() => undefined)) !== undefined,
    );
});

afterAll(() => cluster.close());

function clientOf(plural: string): ApiObjectClient<KubernetesObject> {
  const resource = { group: 'bmc.spidernet.io', version: 'v1beta1', plural, namespaced: false };
  return new ApiObjectClient(cluster.admin.connection, resource);
}

const object = (kind: string, fields: object, name = `host-${count++}`): KubernetesObject =>
  JSON.parse(JSON.stringify({ apiVersion: 'bmc.spidernet.io/v1beta1', kind, metadata: { name }, ...fields })) as KubernetesObject;

const DHCP = {
  dhcpServerInterface: 'net1',
  subnet: '192.168.0.0/24',
  ipRange: '192.168.0.10-192.168.0.100',
  gateway: '192.168.0.1',
  selfIp: '192.168.0.2/24',
};
/** `undefined` leaves a setting out. */
const agentWith = (config: object, others: object = {}) =>
  object('ClusterAgent', {
    spec: { agentYaml: { underlayInterface: 'net' }, feature: { dhcpServerConfig: { ...DHCP, ...config } }, ...others },
  });

async function refusal(plural: string, one: KubernetesObject): Promise<string> {
  const result = await clientOf(plural).create(one);
  return result.ok ? '' : result.message;
}

describe('a new ClusterAgent', () => {
  it('does not become ready because another part of its status is written first', async () => {
    const created = await cluster.admin.create(agentWith({}));
    const addresses = { total: 91, used: 0, available: 91 };
    const result = await clientOf('clusteragents').patchStatus({ key: created.metadata.name }, { status: { addresses } });
    expect(result).toMatchObject({ ok: true, object: { status: { ready: false, addresses } } });
  });

  it.each<[what: string, config: object, others?: object]>([
    ['as the chart of the predecessor installs it', {}],
    ['without selfIp', { selfIp: undefined }],
    ['with a subnet whose host bits are set', { subnet: '192.168.0.7/24' }],
    ['of a /16', { subnet: '10.1.0.0/16', ipRange: '10.1.0.10-10.1.255.254', gateway: '10.1.0.1', selfIp: '10.1.0.2/16' }],
    ['without DHCP', {}, { feature: { enableDhcpServer: false } }],
    [
      'without DHCP, whose settings make no sense',
      {},
      { feature: { enableDhcpServer: false, dhcpServerConfig: { ...DHCP, gateway: '10.0.0.1' } } },
    ],
    ['with a Secret', {}, { endpoint: { secretName: 'a', secretNamespace: 'b' } }],
  ])('%s: accepted', async (_what, config, others) => expect(await refusal('clusteragents', agentWith(config, others))).toBe(''));

  it.each<[what: string, config: object, text: string]>([
    ['999.999.999.999', { gateway: '999.999.999.999' }, 'Gateway is not an IPv4 address: write four numbers of 0 to 255'],
    ['a subnet with an octet of 256', { subnet: '192.168.256.0/24' }, 'Subnet is not an IPv4 subnet'],
    ['a range with an octet of 300', { ipRange: '192.168.0.10-192.168.0.300' }, 'IpRange is not a range of IPv4 addresses'],
    ['a selfIp without a prefix length', { selfIp: '192.168.0.2' }, 'SelfIp is not an IPv4 address with a prefix length'],
    ['a reversed range', { ipRange: '192.168.0.100-192.168.0.10' }, 'IpRange ends before its start: swap the two addresses'],
    [
      'a range outside of the subnet',
      { ipRange: '192.168.1.10-192.168.1.100' },
      'IpRange has addresses that no host in the subnet',
    ],
    ['a range with the broadcast address', { ipRange: '192.168.0.10-192.168.0.255' }, 'IpRange has addresses that no host'],
    ['a gateway outside of the subnet', { gateway: '192.168.1.1' }, 'Gateway is not the address of a host in the subnet'],
    ['a gateway in the range', { gateway: '192.168.0.50' }, 'Gateway is in ipRange'],
    ['a selfIp in the range', { selfIp: '192.168.0.100/24' }, 'SelfIp is in ipRange'],
    ['a selfIp with another prefix', { selfIp: '192.168.0.2/16' }, 'SelfIp has another prefix length than the subnet'],
    ['a selfIp outside of the subnet', { selfIp: '192.168.1.2/24' }, 'SelfIp is not the address of a host in the subnet'],
    ['a selfIp that is the gateway', { selfIp: '192.168.0.1/24' }, 'SelfIp is the gateway'],
    ['no range', { ipRange: undefined }, 'ipRange: Required value'],
    ['no interface', { dhcpServerInterface: '' }, 'dhcpServerInterface'],
    [
      'an interface that Linux cannot have',
      { dhcpServerInterface: 'management-network' },
      'DhcpServerInterface is not a name that an',
    ],
  ])('with %s: refused', async (_what, config, text) =>
    expect(await refusal('clusteragents', agentWith(config))).toContain(text),
  );

  it.each<[what: string, others: object, text: string]>([
    ['without settings of DHCP', { feature: { enableDhcpServer: true } }, 'DhcpServerConfig is missing'],
    ['without features', { feature: undefined }, 'DhcpServerConfig is missing'],
    ['without network', { agentYaml: {} }, 'UnderlayInterface is missing'],
    ['with half a Secret', { endpoint: { secretName: 'a' } }, 'SecretName and SecretNamespace belong together'],
    ['with a port of 70000', { endpoint: { port: 70_000 } }, 'spec.endpoint.port'],
    ['with fewer agents than none', { agentYaml: { underlayInterface: 'net', replicas: -1 } }, 'spec.agentYaml.replicas'],
  ])('%s: refused', async (_what, others, text) => expect(await refusal('clusteragents', agentWith({}, others))).toContain(text));

  it('whose name has dots: refused', async () => {
    const { metadata: _, ...others } = agentWith({});
    expect(await refusal('clusteragents', object('ClusterAgent', others, 'a.b'))).toContain('The name must have at most 63');
  });
});

it('law: the API server refuses the ClusterAgents in which `clusterAgentProblems` finds a problem, and no other', async () => {
  const octet = fc.integer({ min: -2, max: 20 }).map((offset) => `192.168.0.${(offset + 256) % 256}`);
  const address = fc.oneof(
    { weight: 8, arbitrary: octet },
    fc.constantFrom('192.168.1.4', '192.168.0.256', '999.1.1.1', '192.168.0.010'),
  );
  const length = fc.integer({ min: 27, max: 32 });
  const settings = fc.record({
    dhcpServerInterface: fc.oneof(
      { weight: 8, arbitrary: fc.constant('net1') },
      fc.constantFrom('bond0.12', '.net', 'eth/0', 'eth 0', 'eth0:1', 'a-name-that-is-16', 'fifteen-octets1', 'ü'),
    ),
    subnet: fc.tuple(fc.constantFrom('192.168.0.0', '192.168.0.9', '192.300.0.0'), length).map((parts) => parts.join('/')),
    ipRange: fc.tuple(address, address).map((parts) => parts.join('-')),
    gateway: address,
    selfIp: fc.option(
      fc.oneof(
        fc.tuple(address, length).map((parts) => parts.join('/')),
        address,
      ),
      { nil: undefined },
    ),
  });
  const others = fc.record(
    {
      agentYaml: fc.constantFrom({}, { underlayInterface: 'net' }, { underlayInterface: '' }),
      endpoint: fc.constantFrom(
        {},
        { secretName: 'a' },
        { secretName: 'a', secretNamespace: 'b' },
        { secretName: '', secretNamespace: 'b' },
      ),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(settings, others, async (config, rest) => {
      const one = agentWith(config, rest);
      const problems = clusterAgentProblems(one).map(describeHostProblem);
      expect((await refusal('clusteragents', one)) === '', problems.join('. ')).toBe(problems.length === 0);
    }),
    { numRuns: 150 },
  );
});

it('a ClusterAgent of the predecessor that breaks the rules has its status written, and can only be changed to valid settings', async () => {
  const definitions = cluster.admin.client('CustomResourceDefinition');
  const key = 'clusteragents.bmc.spidernet.io';
  const versions = readField((await definitions.get(key))?.spec, 'versions') as object[];
  const lax = JSON.parse(JSON.stringify(versions)) as { schema: { openAPIV3Schema: Record<string, unknown> } }[];
  for (const { schema } of lax) delete schema.openAPIV3Schema['x-kubernetes-validations'];
  await definitions.patch({ key }, { spec: { versions: lax } });
  const stored = agentWith({ gateway: '999.999.999.999', selfIp: '192.168.0.50/24' });
  const client = clientOf('clusteragents');
  await waitFor('the rules to be gone', async () => (await client.create(stored)).ok);
  const { name } = stored.metadata;
  expect((await client.patchStatus({ key: name }, { status: { ready: false } })).ok).toBe(true);
  await definitions.patch({ key }, { spec: { versions } });
  await waitFor('the rules to be back', async () => (await refusal('clusteragents', agentWith({ gateway: '1.1.1.1' }))) !== '');

  expect((await client.patch({ key: name }, { metadata: { labels: { seen: 'yes' } } })).ok).toBe(true);
  expect((await client.patch({ key: name }, { spec: { agentYaml: { replicas: 2 } } })).ok).toBe(true);
  const config = (dhcpServerConfig: object) => ({ spec: { feature: { dhcpServerConfig } } });
  const half = await client.patch({ key: name }, config({ gateway: '192.168.0.1' }));
  expect(half).toMatchObject({ ok: false, message: expect.stringContaining('SelfIp is in ipRange') as string });
  expect((await client.patch({ key: name }, config({ gateway: '192.168.0.1', selfIp: '192.168.0.2/24' }))).ok).toBe(true);
});

describe('a HostEndpoint', () => {
  const endpoint = (spec: object) => object('HostEndpoint', { spec: { ipAddr: '10.0.0.9', ...spec } });

  it.each<[spec: object, text: string]>([
    [{}, ''],
    [{ ipAddr: '2001:db8::1' }, ''],
    [{ secretName: 'a', secretNamespace: 'b', port: 8443, https: false }, ''],
    [{ ipAddr: '999.999.999.999' }, 'spec.ipAddr'],
    [{ ipAddr: undefined }, 'spec.ipAddr: Required value'],
    [{ secretNamespace: 'b' }, 'SecretName and SecretNamespace belong together'],
    [{ secretName: 'a', secretNamespace: '' }, 'SecretName and SecretNamespace belong together'],
  ])('%j: "%s"', async (spec, text) => {
    const message = await refusal('hostendpoints', endpoint(spec));
    if (text === '') expect(message).toBe('');
    else expect(message).toContain(text);
  });

  it('has its defaults, and is never changed', async () => {
    const one = endpoint({});
    const created = await clientOf('hostendpoints').create(one);
    expect(created).toMatchObject({ ok: true, object: { spec: { https: true, port: 443 } } });
    const { name } = one.metadata;
    const changed = await clientOf('hostendpoints').patch({ key: name }, { spec: { port: 8443 } });
    expect(changed).toMatchObject({ ok: false, message: expect.stringContaining('Spec is immutable') as string });
    expect((await clientOf('hostendpoints').patch({ key: name }, { metadata: { labels: { a: 'b' } } })).ok).toBe(true);
  });
});

describe('a HostOperation', () => {
  const operation = (spec: object) => object('HostOperation', { spec: { action: 'On', hostStatusName: 'a', ...spec } });

  it.each<[spec: object, text: string]>([
    [{}, ''],
    [{ action: 'PxeReboot' }, ''],
    [{ action: 'Reboot' }, 'spec.action'],
    [{ action: true }, 'spec.action'],
    [{ hostStatusName: '' }, 'spec.hostStatusName'],
  ])('%j: "%s"', async (spec, text) => {
    const message = await refusal('hostoperations', operation(spec));
    if (text === '') expect(message).toBe('');
    else expect(message).toContain(text);
  });

  it('is never changed; its status is', async () => {
    const one = operation({});
    const client = clientOf('hostoperations');
    expect((await client.create(one)).ok).toBe(true);
    const { name } = one.metadata;
    expect((await client.patch({ key: name }, { spec: { action: 'ForceOff' } })).ok).toBe(false);
    expect((await client.patchStatus({ key: name }, { status: { status: 'pending' } })).ok).toBe(true);
    expect((await client.patchStatus({ key: name }, { status: { status: 'failed' } })).ok).toBe(false);
  });
});

it('a HostStatus is created without status, and any part of it may be written', async () => {
  const client = clientOf('hoststatuses');
  const one = object('HostStatus', { status: { healthy: true } });
  expect((await client.create(one)).ok).toBe(true);
  const { name } = one.metadata;
  expect((await client.get(name))?.status).toBeUndefined();
  expect((await client.patchStatus({ key: name }, { status: { healthReady: true, basic: { mac: 'x', type: '' } } })).ok).toBe(
    true,
  );
  expect((await client.get(name))?.status).toEqual({ healthReady: true, basic: { mac: 'x', type: '' } });
});
