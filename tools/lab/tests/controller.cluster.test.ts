/** The controller as a process against an API server, and Debian's kubectl beside it. */
import { fileURLToPath } from 'node:url';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  has,
  ipPool,
  type LabProcess,
  needs,
  networkAttachment,
  runKubectl,
  TestCluster,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

let cluster: TestCluster;
let controller: LabProcess;
let lastNetwork = 0;
/** Each test has a network and a pool of its own. */
let network: string;
let pool: string;

beforeAll(async () => {
  cluster = await TestCluster.open();
  controller = await cluster.startController('--no-agent');
});

afterAll(() => cluster.close());

beforeEach(async () => {
  const number = ++lastNetwork;
  network = `net-${number}`;
  pool = `pool-${number}`;
  await cluster.access.create(networkAttachment(keyOf(network)));
  await cluster.access.create(poolObject());
});

afterEach(async () => {
  for (const kind of ['VirtualMachine', 'VirtualMachineInstance', 'VirtualMachineNetworkConfig', 'IPPool']) {
    for (const { metadata } of await cluster.access.list(kind)) {
      if (metadata.namespace === cluster.namespace) await cluster.access.delete(kind, keyOf(metadata.name));
    }
  }
  await waitFor('everything to be gone', async () => {
    const configs = await cluster.access.list('VirtualMachineNetworkConfig');
    return !configs.some(({ metadata }) => metadata.namespace === cluster.namespace);
  });
});

const keyOf = (name: string) => `${cluster.namespace}/${name}`;

function poolObject(extra: Readonly<Record<string, unknown>> = {}): KubernetesObject {
  const range = { router: '10.1.0.1', pool: { start: '10.1.0.10', end: '10.1.0.12' } };
  return ipPool(keyOf(pool), { network: keyOf(network), ipv4Config: { ...range, ...extra } });
}

function virtualMachine(name: string, macAddress: string, annotations: Readonly<Record<string, string>> = {}): KubernetesObject {
  return virtualMachineWith(keyOf(name), [{ name: 'default', macAddress, network: keyOf(network) }], annotations);
}

async function allocated(name: string): Promise<string> {
  const { status } = await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf(name), (object) =>
    readConditions(object.status).some(({ type, status: is }) => type === 'Allocated' && is === 'True'),
  );
  return readText(readList(status, 'networkConfigs')[0], 'allocatedIPAddress') ?? '';
}

async function recorded(): Promise<Record<string, string>> {
  const object = await cluster.access.get('IPPool', keyOf(pool));
  return { ...(readField(object?.status, 'ipv4', 'allocated') as Record<string, string> | undefined) };
}

describe('virtual machines', () => {
  it('get addresses, keep them when they are created again, and release them', async () => {
    await cluster.access.create(virtualMachine('a', '02:00:00:00:00:0a'));
    expect(await allocated('a')).toBe('10.1.0.10');
    const line = await controller.line('"address allocated"');
    const expected = {
      pool: keyOf(pool),
      address: '10.1.0.10',
      macAddress: '02:00:00:00:00:0a',
      owner: keyOf('a'),
      reason: 'new',
    };
    expect(JSON.parse(line)).toMatchObject(expected);
    await cluster.access.create(virtualMachine('b', '02:00:00:00:00:0b', { 'static-ip.harvesterhci.io/default': '10.1.0.12' }));
    expect(await allocated('b')).toBe('10.1.0.12');

    await cluster.access.delete('VirtualMachine', keyOf('a'));
    await cluster.access.create(virtualMachine('a', '02:00:00:00:00:0a'));
    expect(await allocated('a')).toBe('10.1.0.10');
    const { metadata } = (await cluster.access.get('VirtualMachine', keyOf('a'))) as KubernetesObject;
    await cluster.access.waitForObject('VirtualMachineNetworkConfig', keyOf('a'), (config) =>
      (config.metadata.ownerReferences ?? []).some(({ uid }) => uid === metadata.uid),
    );

    await cluster.access.delete('VirtualMachine', keyOf('a'));
    await waitFor('the address to be free', async () => (await recorded())['10.1.0.10'] === undefined);
    expect(await recorded()).toEqual({ '10.1.0.12': '02:00:00:00:00:0b' });
  });

  it('get no address if there is none, and have an Event and a reason', async () => {
    for (const name of ['a', 'b', 'c']) await cluster.access.create(virtualMachine(name, `02:00:00:00:00:0${name}`));
    for (const name of ['a', 'b', 'c']) await allocated(name);
    await cluster.access.create(virtualMachine('d', '02:00:00:00:00:0d'));
    const event = await waitFor('an Event', async () =>
      (await cluster.access.list('Event')).find(
        (one) => readText(one, 'reason') === 'PoolExhausted' && readText(one, 'involvedObject', 'kind') === 'VirtualMachine',
      ),
    );
    expect(readText(event, 'message')).toBe(
      `pool ${keyOf(pool)} cannot assign an address to 02:00:00:00:00:0d: every address is in use; raise spec.ipv4Config.pool.end of the IPPool (up to 10.1.0.254), or delete virtual machines`,
    );
    const freed = await allocated('b');
    await cluster.access.delete('VirtualMachine', keyOf('b'));
    expect(await allocated('d')).toBe(freed);
  });

  it('keep their addresses when the controller is killed in the middle of its work', async () => {
    await cluster.access.create(virtualMachine('a', '02:00:00:00:00:0a'));
    await cluster.access.create(virtualMachine('b', '02:00:00:00:00:0b'));
    controller.kill('SIGKILL');
    await controller.ended();
    const before = await recorded();
    await cluster.access.create(virtualMachine('c', '02:00:00:00:00:0c'));
    controller = await cluster.startController('--no-agent');
    const addresses = await Promise.all(['a', 'b', 'c'].map(allocated));
    expect(addresses.toSorted()).toEqual(['10.1.0.10', '10.1.0.11', '10.1.0.12']);
    expect(await recorded()).toMatchObject(before);
  });
});

describe('virtual machines without a MAC address, as plain KubeVirt creates them', () => {
  /** The VirtualMachineInstance of a virtual machine; KubeVirt reports the MAC address a while after it is made. */
  function instance(name: string, macAddress?: string): KubernetesObject {
    return {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata: { namespace: cluster.namespace, name },
      spec: {
        domain: { devices: { interfaces: [{ name: 'default', bridge: {} }] } },
        networks: [{ name: 'default', multus: { networkName: keyOf(network) } }],
      },
      status: {
        phase: macAddress === undefined ? 'Scheduling' : 'Running',
        ...(macAddress !== undefined && { interfaces: [{ name: 'default', mac: macAddress, infoSource: 'domain' }] }),
      } as unknown,
    };
  }

  it('show what they wait for, get an address when they run, and keep it for the next start', async () => {
    await cluster.access.create(virtualMachine('a', ''));
    const event = await waitFor('an Event', async () =>
      (await cluster.access.list('Event')).find(
        (one) => readText(one, 'reason') === 'AwaitingMacAddress' && readText(one, 'metadata', 'namespace') === cluster.namespace,
      ),
    );
    expect(readText(event, 'involvedObject', 'kind')).toBe('VirtualMachine');
    expect(readText(event, 'message')).toContain(`status.interfaces of VirtualMachineInstance ${keyOf('a')}`);

    await cluster.access.create(instance('a'));
    await cluster.access.patch('VirtualMachineInstance', keyOf('a'), { status: instance('a', '02:00:00:00:01:01').status });
    expect(await allocated('a')).toBe('10.1.0.10');
    await cluster.access.delete('VirtualMachineInstance', keyOf('a'));
    await cluster.access.create(virtualMachine('b', '02:00:00:00:00:0b'));
    expect(await allocated('b')).toBe('10.1.0.11');
    expect(await recorded()).toEqual({ '10.1.0.10': '02:00:00:00:01:01', '10.1.0.11': '02:00:00:00:00:0b' });

    controller.kill('SIGKILL');
    await controller.ended();
    await cluster.access.create(instance('a', '02:00:00:00:01:02'));
    controller = await cluster.startController('--no-agent');
    await waitFor('the address to move', async () => (await recorded())['10.1.0.10'] === '02:00:00:00:01:02');
    expect(await recorded()).toEqual({ '10.1.0.10': '02:00:00:00:01:02', '10.1.0.11': '02:00:00:00:00:0b' });
    expect(controller.lines.join('\n')).toContain('VirtualMachineInstances listed');
  });
});

describe('kubectl', () => {
  const kubectl = async (input: string | undefined, ...words: readonly string[]) => {
    const access = { kubeconfig: cluster.kubeconfigPath, namespace: cluster.namespace };
    const { code, stdout, stderr } = await runKubectl(access, words, input);
    if (code !== 0) throw new Error(`kubectl ${words.join(' ')}: ${stderr}`);
    return stdout;
  };

  it.skipIf(!has('kubectl'))(
    `applies, waits, shows our columns and what is wrong, patches and deletes${needs('kubectl')}`,
    async () => {
      await kubectl(JSON.stringify(virtualMachine('web', '02:00:00:00:00:0a')), 'apply', '-f', '-');
      await allocated('web');
      await kubectl(undefined, 'wait', '--for=condition=Allocated', 'vmnetcfg/web', '--timeout=60s');
      const [header = '', row = ''] = (await kubectl(undefined, 'get', 'ippool', pool)).split('\n');
      expect(header.split(/\s{2,}/).map((text) => text.trim())).toEqual([
        'NAME',
        'NETWORK',
        'AVAILABLE',
        'USED',
        'REGISTERED',
        'CACHEREADY',
        'AGENTREADY',
        'REASON',
        'AGE',
      ]);
      expect(row.split(/\s+/).slice(0, 7)).toEqual([pool, keyOf(network), '2', '1', 'True', 'True', 'True']);
      const configs = (await kubectl(undefined, 'get', 'vmnetcfg')).split('\n');
      const columns = 'NAME VMNAME ADDRESS MAC ALLOCATED DISABLED INSYNCED REASON AGE';
      expect(configs[0]?.trim().split(/\s+/).join(' ')).toBe(columns);
      expect(configs[1]?.split(/\s+/).slice(0, 7).join(' ')).toBe('web web 10.1.0.10 02:00:00:00:00:0a True False True');

      await kubectl(undefined, 'annotate', 'vm', 'web', 'static-ip.harvesterhci.io/default=10.1.0.99');
      await waitFor('the reason', async () => (await kubectl(undefined, 'describe', 'vm', 'web')).includes('AddressOutsidePool'));
      await waitFor('the reason as a column', async () =>
        (await kubectl(undefined, 'get', 'vmnetcfg', 'web')).includes('AddressOutsidePool'),
      );
      await kubectl(
        undefined,
        'patch',
        'vm',
        'web',
        '--type=merge',
        '-p',
        '{"metadata":{"annotations":{"static-ip.harvesterhci.io/default":"10.1.0.11"}}}',
      );
      await waitFor('the other address', async () => (await recorded())['10.1.0.11'] === '02:00:00:00:00:0a');
      await kubectl(undefined, 'delete', 'vm', 'web', '--wait=true');
      await kubectl(undefined, 'wait', '--for=delete', 'vmnetcfg/web', '--timeout=60s');
      expect(await recorded()).toEqual({});
    },
  );

  it.skipIf(!has('kubectl'))(
    `deletes a virtual machine and orphans its config: the address stays, its config reports that, and it is free when that is deleted${needs('kubectl')}`,
    async () => {
      await cluster.access.create(virtualMachine('web', '02:00:00:00:00:0a'));
      await allocated('web');
      await kubectl(undefined, 'delete', 'vm', 'web', '--cascade=orphan', '--wait=true');
      await waitFor('the reason as a column', async () =>
        (await kubectl(undefined, 'get', 'vmnetcfg', 'web')).includes('VirtualMachineMissing'),
      );
      expect(await recorded()).toEqual({ '10.1.0.10': '02:00:00:00:00:0a' });
      expect(await kubectl(undefined, 'describe', 'vmnetcfg', 'web')).toContain(
        'delete this VirtualMachineNetworkConfig to free them, or create the virtual machine again to keep them',
      );
      await kubectl(undefined, 'delete', 'vmnetcfg', 'web', '--wait=true');
      expect(await recorded()).toEqual({});
    },
  );

  it.skipIf(!has('kubectl'))(`reads the CRDs correctly, and accepts conflictProbe: Disabled${needs('kubectl')}`, async () => {
    for (const resource of [ipPoolResource, virtualMachineNetworkConfigResource]) {
      const file = fileURLToPath(import.meta.resolve(`@vmdhcp/ippool-api/crds/${resource.plural}.yaml`));
      const printed = await kubectl(undefined, 'create', '--dry-run=client', '-o', 'json', '-f', file);
      expect(JSON.parse(printed)).toMatchObject(toCustomResourceDefinition(resource));
    }
    await cluster.access.create(networkAttachment(keyOf('typed')));
    const config = 'cidr: 10.9.0.0/24, serverIP: 10.9.0.2, pool: { start: 10.9.0.10, end: 10.9.0.12 }';
    const spec = `networkName: ${keyOf('typed')}\n  conflictProbe: Disabled\n  ipv4Config: { ${config} }`;
    const typed = `apiVersion: network.harvesterhci.io/v1alpha1\nkind: IPPool\nmetadata:\n  name: typed\nspec:\n  ${spec}\n`;
    await kubectl(typed, 'apply', '-f', '-');
    expect(await cluster.access.get('IPPool', keyOf('typed'))).toMatchObject({ spec: { conflictProbe: 'Disabled' } });
  });

  it.skipIf(!has('kubectl'))(`gets the schema's message for what it does not allow${needs('kubectl')}`, async () => {
    const bad = { ...poolObject(), metadata: { namespace: cluster.namespace, name: 'bad' } };
    const spec = {
      ...(bad.spec as object),
      ipv4Config: { cidr: '10.1.0.0/33', serverIP: '10.1.0.2', pool: { start: 'a', end: '10.1.0.9' } },
    };
    // A real API server returns them in another order each time.
    const refusal = String(await kubectl(JSON.stringify({ ...bad, spec }), 'apply', '-f', '-').catch((error: unknown) => error));
    for (const field of ['spec.ipv4Config.cidr', 'spec.ipv4Config.pool.start']) expect(refusal).toContain(field);
    await expect(
      kubectl(undefined, 'patch', 'ippool', pool, '--type=merge', '-p', '{"spec":{"ipv4Config":{"cidr":"10.2.0.0/24"}}}'),
    ).rejects.toThrow('CIDR is immutable');
  });
});

describe('the agents’ Deployment', () => {
  const deployment = (env: readonly unknown[] = []): KubernetesObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: cluster.namespace, name: 'agent' },
    spec: {
      // No pods are needed for what is tried here, and none can be had where there is no kubelet.
      replicas: 0,
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image: 'vmdhcp-agent', env }] } },
    } as unknown,
  });

  it('is configured with pools that come and go; no interface is renamed, and nothing is written when nothing changed', async () => {
    await cluster.access.create(deployment());
    const flags = [
      '--agent-topology',
      'unified',
      '--namespace',
      cluster.namespace,
      '--agent-deployment',
      'agent',
      '--agent-container',
      'agent',
      '--no-crds',
    ];
    const configured = async () => {
      const object = await cluster.access.get('Deployment', keyOf('agent'));
      const [container] = readList(object?.spec, 'template', 'spec', 'containers');
      const text = readList(container, 'env').find((entry) => readText(entry, 'name') === 'AGENT_NETWORK_CONFIGS');
      const configs = JSON.parse(readText(text, 'value') ?? '[]') as { ipPoolRef: string; interfaceName: string }[];
      return { configs, version: object?.metadata.resourceVersion, generation: object?.metadata.generation };
    };
    const withAgents = await cluster.startController(...flags);
    const first = await waitFor('the pool', async () => ((await configured()).configs.length === 1 ? configured() : undefined));
    await cluster.access.create(networkAttachment(keyOf(`${network}-b`)));
    await cluster.access.create({
      ...poolObject(),
      metadata: { namespace: cluster.namespace, name: '0-first' },
      spec: { ...(poolObject().spec as object), networkName: keyOf(`${network}-b`) },
    });
    const second = await waitFor('both pools', async () =>
      (await configured()).configs.length === 2 ? configured() : undefined,
    );
    expect(second.configs).toContainEqual(first.configs[0]);
    await withAgents.stop();
    const again = await cluster.startController(...flags);
    await cluster.access.delete('IPPool', keyOf('0-first'));
    const third = await waitFor('one pool', async () => ((await configured()).configs.length === 1 ? configured() : undefined));
    expect(third.configs).toEqual(first.configs);
    expect(third.generation, 'one change, not two: the restart wrote nothing').toBe((second.generation ?? 0) + 1);
    await again.stop();
    await cluster.access.delete('Deployment', keyOf('agent'));
  });
});
