/** The range of a pool grows while its agents answer: real processes, real packets. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  AGENT_NAMESPACE,
  ipPool,
  type LabCluster,
  networkAttachment,
  startVlanLab,
  type VlanLab,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const GROUP = 'vm-dhcp-agent-mgmt-1';
const POOL = 'default/net-48';
const [WEB, SECOND] = ['02:00:5e:00:48:01', '02:00:5e:00:48:02'];

let vlans: VlanLab;
let cluster: LabCluster;

beforeEach(async () => {
  vlans = await startVlanLab([48]);
  cluster = vlans.cluster;
});

afterEach(() => vlans.stop());

const answered = (macAddress: string, address?: string) =>
  vlans.fleet.addressFor({ macAddress, ...(address !== undefined && { address }) }, address === undefined ? 500 : 20_000);

it('a range that grows: clients with an address are answered all the time, waiting ones get a new address, and no agent restarts', async () => {
  await cluster.startController();
  await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
  const range = { start: '192.168.48.10', end: '192.168.48.10' };
  const ipv4Config = { cidr: '192.168.48.0/24', serverIP: '192.168.48.2', pool: range, leaseTime: 3600 };
  await cluster.access.create(ipPool(POOL, { network: 'default/vlan-48', ipv4Config }));
  await cluster.access.create(virtualMachine('default/web', WEB, 'default/vlan-48'));
  await cluster.agentReady(POOL);
  await cluster.rolledOut(GROUP);
  await waitFor('an answer', () => answered(WEB));
  await cluster.access.create(virtualMachine('default/second', SECOND, 'default/vlan-48'));
  await waitFor('the pool to be exhausted', async () =>
    (await cluster.access.list('Event')).some((event) => (event as { reason?: string }).reason === 'PoolExhausted'),
  );
  const pods = [...cluster.pods.keys()].toSorted();
  const { metadata } = (await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${GROUP}`)) ?? {};

  await cluster.access.patch('IPPool', POOL, { spec: { ipv4Config: { pool: { ...range, end: '192.168.48.11' } } } });
  const served = { web: [] as (string | undefined)[] };
  await waitFor('the new address', async () => {
    served.web.push(await answered(WEB, '192.168.48.10'));
    return (await answered(SECOND)) === '192.168.48.11';
  });
  for (let turn = 0; turn < 20; turn++) served.web.push(await answered(WEB, '192.168.48.10'));
  expect(new Set(served.web)).toEqual(new Set(['192.168.48.10']));
  expect([...cluster.pods.keys()].toSorted()).toEqual(pods);
  const after = await cluster.access.get('Deployment', `${AGENT_NAMESPACE}/${GROUP}`);
  expect(after?.metadata.generation).toBe(metadata?.generation);
});
