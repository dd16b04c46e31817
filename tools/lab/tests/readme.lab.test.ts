/**
 * The commands of "In a cluster" in the README, as a new user types them: from a cluster without the product to an address that a real client gets.
 * Real: kubectl, the manifest, controller, webhook and agents with the arguments, variables and rights of their pods, the client.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readField, readList } from '@vmdhcp/kube-runtime';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquire, has, LabProcess, needs, ProgramPod, startVlanLab, type VlanLab } from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const [, SECTION = ''] = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8').split('\n## In a cluster\n');
const [IN_A_CLUSTER = ''] = SECTION.split('\n## ');
/** With Helm or without it: the commands of the README for kubectl, in their order. */
const COMMANDS = [...IN_A_CLUSTER.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block = '']) => block.split('\n'))
  .filter((line) => line.startsWith('kubectl '));

let vlans: VlanLab;
/** Where kubectl keeps what it discovered. */
let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'vmdhcp-readme-'));
  vlans = await startVlanLab([48, 49], { isInstalled: false, runPod });
});

afterEach(async () => {
  await vlans.stop();
  rmSync(home, { recursive: true });
});

/** Pods of the manifest run the controller and the webhook of this checkout, all others an agent. */
function runPod(pod: Pod, runAgent: (pod: Pod) => PodProcess): PodProcess {
  return pod.metadata.namespace === 'vm-dhcp-system' ? new ProgramPod(pod, vlans.cluster.place) : runAgent(pod);
}

/** What a person who types it sees; fails with that if it fails. */
async function type(command: string): Promise<string> {
  const env = { KUBECONFIG: vlans.cluster.kubeconfigPath, HOME: home };
  const shell = new LabProcess('sh', ['-c', `cd '${ROOT}' && ${command}`], { env });
  const { code } = await shell.ended(150_000);
  const output = shell.lines.join('\n');
  expect(code, `${command}\n${output}`).toBe(0);
  return output;
}

describe('the README', () => {
  it.skipIf(!has('kubectl', 'udhcpc'))(
    `leads from an empty cluster to the first address of a virtual machine ${needs('kubectl', 'udhcpc')}`,
    { timeout: 240_000 },
    async () => {
      expect(COMMANDS[0]).toBe('kubectl apply -f manifests/vmdhcp.yaml');
      let shown = '';
      for (const command of COMMANDS) shown = await type(command);
      for (const name of ['net-48', 'net-49', 'web', 'database', 'gateway']) expect(shown).toContain(name);
      await vlans.cluster.agentReady('default/net-48');
      const web = await vlans.cluster.access.get('VirtualMachineNetworkConfig', 'default/web');
      const recorded = readField(readList(web?.status, 'networkConfigs')[0], 'allocatedIPAddress');
      const machine = vlans.lab.addMachine('web', { network: 'br48', macAddress: '02:00:5e:00:48:01' });
      expect(await acquire('udhcpc', machine)).toMatchObject({ address: recorded });
    },
  );
});
