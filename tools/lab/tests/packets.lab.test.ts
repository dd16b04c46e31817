/** What agents see of a real client, asked of them in their pods by the plugin as a process: `top`, `capture`, and `why`. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  acquire,
  CLUSTER_EXAMPLES,
  has,
  KubectlPlugin,
  Lab,
  LabCluster,
  type Machine,
  needs,
  runAgent,
  virtualMachine,
  waitFor,
} from '../src/index.js';

const POOL = 'default/net-48';
const NETWORK = 'default/vlan-48';
const MAC = '02:00:5e:00:48:01';

let lab: Lab;
let cluster: LabCluster;
let web: Machine;
const plugin = new KubectlPlugin();

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br48');
  lab.addNetwork('br49');
  web = lab.addMachine('web', { network: 'br48', macAddress: MAC });
  cluster = await LabCluster.start(lab, { networks: { [NETWORK]: 'br48', 'default/vlan-49': 'br49' } });
  await cluster.startController();
  await cluster.access.applyFile(join(CLUSTER_EXAMPLES, 'pools.yaml'));
  await createMachine();
  await cluster.agentReady(POOL);
});

afterAll(async () => {
  plugin.close();
  await cluster.stop();
  await lab.dispose();
});

/** It runs, and no guest agent reports its address. */
async function createMachine(): Promise<void> {
  const machine = virtualMachine('default/web', MAC, NETWORK);
  const { metadata } = await cluster.access.create(machine);
  const owner = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'web', uid: metadata.uid ?? '' };
  await cluster.access.create({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { namespace: 'default', name: 'web', ownerReferences: [owner] },
    spec: readField(machine.spec, 'template', 'spec'),
    status: { phase: 'Running', interfaces: [{ name: 'default', mac: MAC }] },
  } as KubernetesObject);
  await cluster.access.waitForObject('VirtualMachineNetworkConfig', 'default/web', ({ status }) =>
    JSON.stringify(status ?? {}).includes('"state":"Allocated"'),
  );
}

const ask = async (...words: readonly string[]) => await plugin.run(cluster.kubeconfigPath, words);

interface Top {
  readonly pools: readonly { readonly pool: string; readonly packets: number; readonly error: string }[];
  readonly clients: readonly { readonly macAddress: string; readonly answers: number; readonly last: string }[];
}

async function top(): Promise<Top> {
  return JSON.parse((await ask('top', '--pool', POOL, '-o', 'json')).stdout) as Top;
}

describe.skipIf(!has('udhcpc'))(`a real client (${needs('udhcpc')})`, () => {
  it('is in why: no packet, then offers that it does not accept, then its lease; in a capture that Ctrl-C ends; and in top', async () => {
    expect((await ask('why', 'web')).stdout).toMatch(/! packets +Pod \S+: got no packet from 02:00:5e:00:48:01; it counts since/);
    const refusing = await waitFor('the reason', async () => {
      await runAgent(web, 'probe', '--interface', 'eth0', '--timeout', '0.5');
      const { stdout } = await ask('why', 'web');
      return stdout.includes('OfferNotAccepted') ? stdout : undefined;
    });
    expect(refusing).toContain('is assigned to it, but the way to it is broken: OfferNotAccepted');

    const leader = await waitFor('the leader', async () => cluster.holders(POOL)[0]);
    expect((await top()).pools).toMatchObject([{ pool: POOL, error: '' }]);

    const file = join(lab.folder, 'net-48.pcapng');
    const capture = plugin.start(cluster.kubeconfigPath, ['capture', POOL, '--write', file, '--seconds', '60', '--mac', MAC]);
    await capture.line(`in pod vm-dhcp-agents/${leader.name}`);
    await waitFor('the capture to begin', () => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0 || undefined);
    const { address } = await acquire('udhcpc', web);
    await waitFor('four packets', () => readFileSync(file).includes(Buffer.from('63825363350105', 'hex')) || undefined);
    capture.kill('SIGINT');
    expect(await capture.ended()).toMatchObject({ code: 0 });
    expect(capture.lines.at(-1)).toMatch(/net-48\.pcapng: \d+ packets written, none lost$/);

    const { clients } = await top();
    expect(clients).toMatchObject([{ macAddress: MAC, last: `REQUEST: ACK ${address}` }]);
    const why = await ask('why', 'web');
    expect(why.code).toBe(0);
    expect(why.stdout).toMatch(new RegExp(`✓ packets +Pod vm-dhcp-agents/${leader.name}: .*REQUEST got ACK ${address}\\n`));
  });
});
