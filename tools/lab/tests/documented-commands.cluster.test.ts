/**
 * The kubectl commands of the guides, in the order in which they stand there, against a simulated API server with a controller. What needs pods that
 * run something (`kubectl logs`), and what has a placeholder, is left out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ipPoolResource,
  toCustomResourceDefinition,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has, KubectlPlugin, LabProcess, needs, networkAttachment, PrivateCluster, waitFor } from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const GUIDES = ['first-pool', 'addresses', 'topologies', 'tasks', 'troubleshooting'];
/** Deletes what the others need, and is tried by tests of its own. */
const LEFT_OUT_SECTION = '\n## Removing it\n';
/** Where its section begins, the simulated API server is started, as `PrivateCluster` does. */
const SET_UP_SECTION = '\n## Without a cluster\n';

/** Where kubectl keeps what it discovered. */
const home = mkdtempSync(join(tmpdir(), 'vmdhcp-commands-'));
const plugin = new KubectlPlugin();
let cluster: PrivateCluster;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['everything', 'crds.yaml'], {
    nodes: [{ name: 'node-1', labels: { 'network.harvesterhci.io/mgmt': 'true' } }],
  });
  for (const one of [ipPoolResource, virtualMachineNetworkConfigResource, wolConfigResource])
    await cluster.admin.create(toCustomResourceDefinition(one) as unknown as KubernetesObject);
  await cluster.admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant' } });
  await cluster.admin.create(networkAttachment('tenant/vlan-48'));
  await cluster.admin.create({
    apiVersion: 'wol.pillon.org/v1beta1',
    kind: 'WolConfig',
    metadata: { name: 'office' },
    spec: { discoveryMode: 'All' },
  });
  await cluster.startController('--namespace', 'vm-dhcp-agents', '--image', 'agent:v1');
});

afterAll(async () => {
  await cluster.close();
  rmSync(home, { recursive: true });
  plugin.close();
});

/** Guide and command, of those that can be run. */
const commands = GUIDES.flatMap((guide) => {
  const text = readFileSync(new URL(`../../../docs/${guide}.md`, import.meta.url), 'utf8');
  const [before = ''] = text.split(LEFT_OUT_SECTION);
  const [page = ''] = before.split(SET_UP_SECTION);
  return [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```/gm)]
    .flatMap(([, , block = '']) => block.split('\n').map((line) => line.trim()))
    .filter((line) => line.startsWith('kubectl ') && !line.includes(' logs '))
    .map((command) => ({ guide, command }));
});

/** What a person who types it sees; fails with that if it fails. */
async function type(command: string, codes: readonly number[] = [0]): Promise<string> {
  const shell = new LabProcess('sh', ['-c', `cd '${ROOT}' && ${command}`], {
    env: { KUBECONFIG: cluster.adminKubeconfig, HOME: home, PATH: plugin.path },
  });
  const { code } = await shell.ended();
  const output = shell.lines.join('\n');
  expect(codes, `${command}\n${output}`).toContain(code);
  return output;
}

describe('the commands of the guides', () => {
  it('include some of each guide', () => {
    expect(new Set(commands.map(({ guide }) => guide))).toEqual(new Set(GUIDES));
  });

  it.skipIf(!has('kubectl'))(`work as they are written, one after the other${needs('kubectl')}`, async () => {
    for (const { command } of commands) {
      // No rogue DHCP server is on a simulated network: grep finds none.
      if (command.includes('| grep -A4 -i rogue')) continue;
      // No pods of agents run here, so that the way to the address is broken there.
      if (command.startsWith('kubectl vmdhcp why')) expect(await type(command, [1])).toContain('default/web, interface ');
      // No virtual machine runs here; kubevirt.cluster.test.ts shows what the command does with one.
      else if (command.startsWith('kubectl vmdhcp renew'))
        expect(await type(command, [1])).toContain('default/database does not run');
      // The records began a moment ago.
      else if (command.startsWith('kubectl vmdhcp audit')) expect(await type(command, [0, 1])).toMatch(/assigned|not-known/);
      else await type(command);
      if (command.includes('virtual-machines.yaml')) await addressOf('web');
    }
    // As addresses.md promises: another pinned address, a reservation, a larger range.
    await waitFor('the pinned address', async () => (await addressOf('database')) === '192.168.48.51');
    const { spec } = await cluster.admin.waitForObject(
      'IPPool',
      'default/net-48',
      ({ status }) => readField(status, 'ipv4', 'allocated', '192.168.48.5') === '02:00:5e:00:48:aa',
    );
    expect(readField(spec, 'ipv4Config', 'pool', 'end')).toBe('192.168.48.250');
    expect(await type('kubectl get vmnetcfg web')).toContain('02:00:5e:00:48:01');
  });
});

/** The first address of a virtual machine, as soon as it has one. */
async function addressOf(name: string): Promise<string> {
  const { status } = await cluster.admin.waitForObject(
    'VirtualMachineNetworkConfig',
    `default/${name}`,
    (config) => firstAddress(config.status) !== undefined,
  );
  return firstAddress(status) ?? '';
}

function firstAddress(status: unknown): string | undefined {
  return readText(readList(status, 'networkConfigs')[0], 'allocatedIPAddress');
}
