/**
 * Plain KubeVirt, without Harvester's labels, on three nodes: one has no bridge, so that the CNI plugin makes an empty one; one is on another VLAN. The
 * pool says what is wrong, and its clients get their addresses from the third node.
 *
 * @module-tag nightly
 */

import { type KubernetesObject, readConditions, readField, readText } from '@vmdhcp/kube-runtime';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AGENT_NAMESPACE, ClientFleet, ipPool, Lab, LabCluster, type LabPod, virtualMachine, waitFor } from '../src/index.js';

const POOL = 'default/net-48';
const [WEB, NEIGHBOUR, OTHER] = ['02:00:5e:00:48:01', '02:00:5e:00:48:02', '02:00:5e:00:49:01'];
const [EMPTY, WRONG_VLAN, GOOD] = ['node-1', 'node-2', 'node-3'];
/** An agent calls a network silent after two minutes; then another replica has half a minute. */
const SILENCE_MS = 120_000 + 30_000;

let lab: Lab;
let cluster: LabCluster;
let fleet: ClientFleet;

beforeEach(async () => {
  lab = new Lab();
  for (const network of ['br48', 'br49', 'empty', 'wrong']) lab.addNetwork(network);
  cluster = await LabCluster.start(lab, {
    nodes: [EMPTY, WRONG_VLAN, GOOD],
    networks: { 'default/vlan-48': 'br48', 'default/vlan-49': 'br49' },
    networksOfNodes: { [EMPTY]: { 'default/vlan-48': 'empty' }, [WRONG_VLAN]: { 'default/vlan-48': 'wrong' } },
  });
  fleet = new ClientFleet('br48');
});

afterEach(async () => {
  fleet.stop();
  await cluster.stop();
  await lab.dispose();
});

async function serve(vlan: number, macAddress: string): Promise<void> {
  await cluster.access.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: `vlan-${vlan}` },
    spec: { config: JSON.stringify({ type: 'bridge', bridge: `br${vlan}` }) },
  });
  const ipv4Config = {
    ...{ cidr: `192.168.${vlan}.0/24`, serverIP: `192.168.${vlan}.2` },
    pool: { start: `192.168.${vlan}.10`, end: `192.168.${vlan}.99` },
  };
  await cluster.access.create(ipPool(`default/net-${vlan}`, { network: `default/vlan-${vlan}`, ipv4Config }));
  const machine = virtualMachine(`default/vm-${vlan}`, macAddress, `default/vlan-${vlan}`);
  await cluster.access.create(machine);
  // As KubeVirt reports a machine that has been running for long.
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: `vm-${vlan}` },
    spec: readField(machine.spec, 'template', 'spec'),
    status: {
      phase: 'Running',
      phaseTransitionTimestamps: [{ phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:00Z' }],
      interfaces: [{ name: 'default', mac: macAddress }],
    },
  } as KubernetesObject);
  await cluster.agentReady(`default/net-${vlan}`);
}

async function leaseOf(pool: string): Promise<KubernetesObject> {
  const { status } = (await cluster.access.get('IPPool', pool)) ?? {};
  const name = readText(status, 'agentDeploymentRef', 'name') ?? '';
  return (await cluster.access.get('Lease', `${AGENT_NAMESPACE}/${name}`)) as KubernetesObject;
}

const nodeOf = async ({ name }: LabPod) =>
  readText((await cluster.access.get('Pod', `${AGENT_NAMESPACE}/${name}`))?.spec, 'nodeName');
const leaderOf = async (pool: string) => cluster.leader((await leaseOf(pool)).metadata.name);

it('clients get their addresses although the leader begins where it reaches none, and a pool that works is not moved', async () => {
  // Leaders do not change because a machine is busy.
  await cluster.startController('--agent-replicas', '3', '--agent-lease-seconds', '15', '--no-leader-election');
  await serve(48, WEB);
  await serve(49, OTHER);
  await cluster.access.create(virtualMachine('default/neighbour', NEIGHBOUR, 'default/vlan-48'));
  // These guests use their addresses, and so answer agents that reach them.
  lab.addMachine('other', { network: 'br49', macAddress: OTHER }).ip('address', 'add', '192.168.49.10/24', 'dev', 'eth0');
  const neighbour = lab.addMachine('neighbour', { network: 'br48', macAddress: NEIGHBOUR });
  neighbour.ip('address', 'add', '192.168.48.11/24', 'dev', 'eth0');
  await cluster.access.waitForObject('IPPool', POOL, ({ status }) => readField(status, 'ipv4', 'used') === 2);
  const otherTerms = readField((await leaseOf('default/net-49')).spec, 'leaseTransitions');

  await waitFor(
    'a leader that reaches no client',
    async () => {
      const leader = await leaderOf(POOL);
      const isGood = leader !== undefined && (await nodeOf(leader)) === GOOD;
      if (isGood) leader.process?.kill('SIGKILL');
      return leader !== undefined && !isGood;
    },
    60_000,
  );
  const silence = async () =>
    readConditions((await cluster.access.get('IPPool', POOL))?.status).find(({ reason }) => reason === 'NetworkSilent')?.message;
  const reported = waitFor('the condition NetworkSilent', silence, SILENCE_MS);
  const answered = waitFor('an answer', () => fleet.addressFor({ macAddress: WEB }, 2_000).catch(() => undefined), SILENCE_MS);
  expect(await reported).toContain('VLAN');
  expect(await answered).toBe('192.168.48.10');
  await cluster.agentReady(POOL);
  expect(readField((await leaseOf('default/net-49')).spec, 'leaseTransitions')).toBe(otherTerms);
  // Each wait has a deadline of its own, which follows the pace of the machine.
}, 900_000);
