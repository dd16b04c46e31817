/** A cluster that has bare-metal hosts and neither KubeVirt nor Multus: the controller is ready, serves ClusterAgents, and notices KubeVirt when it is installed. Always simulated. */
import { readConditions, readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { InstalledProgram, installedWith, PrivateCluster, waitFor } from '../src/index.js';

const CONTROLLER = 'vm-dhcp-controller';

let cluster: PrivateCluster;
let controller: InstalledProgram;

beforeAll(async () => {
  cluster = await PrivateCluster.start(['bare metal'], { nodes: [{ name: 'node-1', labels: {} }] });
  const deployment = installedWith('vmdhcp-bare-metal.yaml').find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === CONTROLLER,
  );
  const spec = readField(deployment?.spec, 'template', 'spec');
  controller = await InstalledProgram.start(cluster.place, { namespace: 'vm-dhcp-system', name: 'controller', spec });
});

afterAll(async () => {
  await controller?.process.stop();
  await cluster?.close();
});

/** Undefined: not ready, as while parts start after it became leader. */
async function readiness(): Promise<string | undefined> {
  const response = await fetch(`${controller.url}/readyz`);
  const text = await response.text();
  return response.ok ? text : undefined;
}

it('is ready without their kinds, tells which are missing, and lists them when they are there', async () => {
  await controller.ready();
  const { lacks } = await waitFor('what it lacks', async () => {
    const found = JSON.parse((await readiness()) ?? '{}') as { readonly lacks?: readonly string[] };
    return found.lacks?.length === 2 ? { lacks: found.lacks } : undefined;
  });
  expect(lacks).toEqual([
    expect.stringContaining('dhcp: the API server does not have the kind NetworkAttachmentDefinition'),
    expect.stringContaining('dhcp: the API server does not have the kind VirtualMachine (kubevirt.io/v1)'),
  ]);
  const dhcpServerConfig = {
    ...{ dhcpServerInterface: 'net1', subnet: '192.168.0.0/24', ipRange: '192.168.0.10-192.168.0.20' },
    ...{ gateway: '192.168.0.1', selfIp: '192.168.0.2/24' },
  };
  const spec = { agentYaml: { underlayInterface: 'eth1', hostNetwork: true, nodeName: 'node-1' }, feature: { dhcpServerConfig } };
  await cluster.admin.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'ClusterAgent', metadata: { name: 'rack' }, spec });
  await cluster.admin.waitForObject('Deployment', 'vm-dhcp-agents/agent-rack', () => true);
  await cluster.admin.waitForObject('ClusterAgent', 'rack', ({ status }) => readConditions(status).length > 0);

  await cluster.apply('crds.yaml');
  await waitFor('both kinds to be found', async () => (await readiness()) === '{"ok":true}\n', 60_000);
  const { lines } = controller.process;
  await waitFor('their records', () => lines.filter((line) => line.includes('the API server has this kind now')).length >= 2);
  expect(lines.filter((line) => line.includes('the API server has this kind now'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('until KubeVirt is installed'))).toHaveLength(1);
});
