/** The range of a pool grows while its agents answer: real processes, real packets. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AGENT_NAMESPACE, ClientFleet, Lab, LabCluster, virtualMachine, waitFor } from '../src/index.js';

const GROUP = 'vm-dhcp-agent-mgmt-1';
const POOL = 'default/net-48';
const [WEB, SECOND] = ['02:00:5e:00:48:01', '02:00:5e:00:48:02'];

let lab: Lab;
let cluster: LabCluster;
let fleet: ClientFleet;
let lastXid = 0;

beforeEach(async () => {
  lab = new Lab();
  lab.addNetwork('br48');
  cluster = await LabCluster.start(lab, { networks: { 'default/vlan-48': 'br48' } });
  fleet = new ClientFleet('br48');
});

afterEach(async () => {
  fleet.stop();
  await cluster.stop();
  await lab.dispose();
});

/** One question, and its answer within two seconds. */
async function answered(macAddress: string, address?: string): Promise<string | undefined> {
  const xid = ++lastXid;
  fleet.ask({ macAddress, xid, ...(address !== undefined && { address }) });
  return (await waitFor('an answer', () => fleet.answerTo(xid), 2_000).catch(() => undefined))?.address;
}

it('a range that grows: who has an address is answered all the while, who waited gets a new one, and no agent starts again', {
  timeout: 90_000,
}, async () => {
  await cluster.startController();
  await cluster.access.create({
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    metadata: { namespace: 'default', name: 'vlan-48', labels: { 'network.harvesterhci.io/clusternetwork': 'mgmt' } },
    spec: { config: '{}' },
  });
  const range = { start: '192.168.48.10', end: '192.168.48.10' };
  await cluster.access.create({
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'IPPool',
    metadata: { namespace: 'default', name: 'net-48' },
    spec: {
      networkName: 'default/vlan-48',
      ipv4Config: { cidr: '192.168.48.0/24', serverIP: '192.168.48.2', pool: range, leaseTime: 3600 },
    },
  });
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
  await cluster.agentReady(POOL);
  await cluster.rolledOut(GROUP);
  await waitFor('an answer', () => answered(WEB), 20_000);
  await cluster.access.create(virtualMachine('default/second', SECOND, 'default/vlan-48'));
  await waitFor('the pool to be exhausted', async () =>
    (await cluster.access.list('Event')).some((event) => (event as { reason?: string }).reason === 'PoolExhausted'),
  );
  const pods = [...cluster.pods.keys()].toSorted();
  const { metadata } = (await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${GROUP}`)) ?? {};

  await cluster.access.patch('IPPool', POOL, { spec: { ipv4Config: { pool: { ...range, end: '192.168.48.11' } } } });
  const served = { web: [] as (string | undefined)[] };
  await waitFor(
    'the new address',
    async () => {
      served.web.push(await answered(WEB, '192.168.48.10'));
      return (await answered(SECOND)) === '192.168.48.11';
    },
    20_000,
  );
  for (let turn = 0; turn < 20; turn++) served.web.push(await answered(WEB, '192.168.48.10'));
  expect(new Set(served.web)).toEqual(new Set(['192.168.48.10']));
  expect([...cluster.pods.keys()].toSorted()).toEqual(pods);
  const after = await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${GROUP}`);
  expect(after?.metadata.generation).toBe(metadata?.generation);
});
