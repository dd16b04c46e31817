/** Pods of agents that serve nothing: also they let no packet pass from a network of virtual machines. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentInterfaceName } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AGENT_BIN, Lab, type Machine, reach, waitFor } from '../src/index.js';

const POD_ADDRESS = '10.42.0.9';
const OFFICE_ADDRESS = '10.42.0.1';
const INTERFACE = agentInterfaceName('default/net-48');
const KUBECONFIG = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'c', cluster: { server: `https://${OFFICE_ADDRESS}:1` } }],
  contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  'current-context': 'c',
  users: [{ name: 'u', user: {} }],
});

let lab: Lab;
let pod: Machine;
let vm: Machine;

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br-mgmt');
  lab.addNetwork('br48');
  const office = lab.addMachine('office', { network: 'br-mgmt', macAddress: '02:00:5e:00:99:01' });
  office.ip('address', 'add', `${OFFICE_ADDRESS}/24`, 'dev', 'eth0');
  office.ip('route', 'add', '192.168.48.0/24', 'via', POD_ADDRESS);
  pod = await lab.createMachine('pod', {
    network: 'br-mgmt',
    macAddress: '02:00:00:99:00:01',
    address: `${POD_ADDRESS}/24`,
    interfaces: new Map([[INTERFACE, 'br48']]),
  });
  // As a pod is on a node that forwards.
  pod.setSysctls({ 'ipv4/ip_forward': '1', 'ipv4/conf/all/rp_filter': '0', [`ipv4/conf/${INTERFACE}/rp_filter`]: '0' });
  pod.ip('route', 'add', 'default', 'via', OFFICE_ADDRESS);
  // Back to the virtual machine, as the pod would have it with an address of that network.
  pod.ip('route', 'add', '192.168.48.0/24', 'dev', INTERFACE);
  const shown = JSON.parse(pod.ip('-json', 'link', 'show', INTERFACE)) as { address: string }[];
  vm = lab.addMachine('vm', { network: 'br48', macAddress: '02:00:5e:00:00:48' });
  vm.ip('address', 'add', '192.168.48.77/24', 'dev', 'eth0');
  vm.ip('route', 'add', 'default', 'dev', 'eth0');
  for (const address of [POD_ADDRESS, OFFICE_ADDRESS])
    vm.ip('neighbor', 'add', address, 'lladdr', shown[0]?.address ?? '', 'dev', 'eth0');
});

afterEach(async () => {
  await lab.dispose();
});

it.each([
  { what: 'a configuration that cannot be read', configs: '{broken', hasCluster: true },
  { what: 'a configuration whose only entry is left out', configs: `[{"interfaceName":"${INTERFACE}"}]`, hasCluster: true },
  { what: 'no pool', configs: '[]', hasCluster: true },
  { what: 'no way to its cluster, so that it ends', configs: '[]', hasCluster: false },
])('a pod with $what lets nothing into the network of the pods', async ({ configs, hasCluster }) => {
  expect(await reach(vm, OFFICE_ADDRESS, 9), 'before the agent runs, the pod forwards').toBe('refused');
  const kubeconfig = join(lab.folder, 'kubeconfig');
  if (hasCluster) writeFileSync(kubeconfig, KUBECONFIG);
  const agent = pod.start(process.execPath, [AGENT_BIN, 'serve', '--http', 'off'], {
    env: { AGENT_NETWORK_CONFIGS: configs, POD_IP: POD_ADDRESS, KUBECONFIG: kubeconfig },
  });
  await waitFor('the rule', () => pod.ip('rule', 'list').includes(`iif ${INTERFACE} blackhole`));
  if (!hasCluster) await agent.ended();
  expect(await reach(vm, OFFICE_ADDRESS, 9), 'a machine of the network of the pods').toBe('silent');
  expect(await reach(vm, POD_ADDRESS, 9), 'the pod').toBe('silent');
  expect(pod.sysctl('ipv4/conf/eth0/forwarding'), "the pod's own interface is as it was").toBe('1');
  if (!hasCluster) return;
  pod.setSysctls({ [`ipv4/conf/${INTERFACE}/forwarding`]: '1' });
  await waitFor('forwarding to be off again', () => pod.sysctl(`ipv4/conf/${INTERFACE}/forwarding`) === '0');
});
