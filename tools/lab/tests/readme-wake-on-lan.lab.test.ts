/**
 * The commands of "Wake-on-LAN" in the README, as a user types them. Real: kubectl, etherwake, the controller, agents on the nodes, TLS. KubeVirt is a
 * stand-in. The installation itself is tried by the tests of the chart.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  API_HOST,
  CLUSTER_EXAMPLES,
  CONTROLLER_BIN,
  freePort,
  has,
  KubeVirt,
  Lab,
  LabCluster,
  LabProcess,
  type Machine,
  needs,
} from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const [, SECTION = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## Wake-on-LAN\n');
const [, BLOCK = ''] = SECTION.split('```', 2)[1]?.split('sh\n', 2) ?? [];
const COMMANDS = BLOCK.split('\n').filter((line) => /^(kubectl|etherwake) /.test(line));
const NAMESPACE = 'vm-dhcp-system';

let lab: Lab;
let cluster: LabCluster;
let kubevirt: KubeVirt;
let outside: Machine;
/** Where kubectl keeps what it discovered. */
let home: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'vmdhcp-readme-'));
  lab = new Lab();
  lab.addNetwork('br-lan');
  outside = lab.addMachine('outside', { network: 'br-lan', macAddress: '02:00:00:00:77:01' });
  cluster = await LabCluster.start(lab, {
    networks: {},
    nodeCards: { eth1: 'br-lan' },
    hosts: { [`vmdhcp-wake-on-lan.${NAMESPACE}.svc`]: API_HOST },
  });
  kubevirt = await KubeVirt.start(cluster.simulator);
  await cluster.access.applyFile(join(CLUSTER_EXAMPLES, 'virtual-machines.yaml'));
  await kubevirt.untilStatus('default/web', 'Running');
  await startController();
});

afterEach(async () => {
  await kubevirt?.stop();
  await cluster?.stop();
  await lab?.dispose();
  rmSync(home, { recursive: true });
});

async function startController(): Promise<void> {
  const http = `${API_HOST}:${await freePort()}`;
  const flags = ['--kubeconfig', cluster.kubeconfigPath, '--no-agent', '--image', 'vmdhcp-agent:lab', '--namespace', NAMESPACE];
  const started = lab.start(process.execPath, [CONTROLLER_BIN, 'run', ...flags, '--http', http, '--wake-on-lan'], {
    env: { POD_IP: API_HOST, POD_NAMESPACE: NAMESPACE },
  });
  await started.line('deciding about wake-ups');
}

/** What a person who types it sees; fails with that if it fails. */
async function type(command: string): Promise<string> {
  const words = ['-c', `cd '${ROOT}' && ${command}`];
  const env = { KUBECONFIG: cluster.kubeconfigPath, HOME: home };
  const shell = command.startsWith('etherwake ') ? outside.start('sh', words) : new LabProcess('sh', words, { env });
  const { code } = await shell.ended(150_000);
  const output = shell.lines.join('\n');
  expect(code, `${command}\n${output}`).toBe(0);
  return output;
}

describe('the README', () => {
  it.skipIf(!has('kubectl', 'etherwake'))(
    `wakes a virtual machine by a magic packet ${needs('kubectl', 'etherwake')}`,
    { timeout: 240_000 },
    async () => {
      expect(COMMANDS[0]).toContain('kubectl apply -f examples/cluster/wake-on-lan.yaml');
      let shown = '';
      for (const command of COMMANDS) shown = await type(command);
      expect(shown).toMatch(/WakeUpStarted.*default\/web.*from 02:00:00:00:77:01/);
      expect(kubevirt.acceptedStartsOf('default/web')).toBe(1);
      const configs = await cluster.access.list('WolConfig');
      expect(configs.map(({ metadata }) => metadata.name).toSorted()).toEqual(['by-address', 'by-label', 'office']);
      // The others share its UDP port.
      expect(await cluster.access.list('DaemonSet')).toHaveLength(1);
    },
  );
});
