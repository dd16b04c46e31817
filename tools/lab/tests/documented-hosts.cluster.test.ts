/**
 * The commands of docs/bare-metal-hosts.md, in the order in which they stand there, with the objects of its YAML, against a simulated API server with a controller. No agent runs: the test
 * writes what one would. What is about spidernet-io/bmc, and what needs pods that run something, is left out.
 *
 * @module-tag nightly
 */
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AGENT_BIN, CONTROLLER_BIN, has, KubectlPlugin, LabProcess, needs, PrivateCluster } from '../src/index.js';

const GUIDE = readFileSync(new URL('../../../docs/bare-metal-hosts.md', import.meta.url), 'utf8');
const HOSTS = [10, 11, 12];
const LEASES = 'lease 192.168.0.42 { ends never; binding state active; hardware ethernet 02:00:5e:00:60:42; }\n';

interface Block {
  readonly language: string;
  readonly text: string;
}

/** The code blocks of all sections but one. */
function blocksOf(guide: string): Block[] {
  const sections = guide.split(/^(?=## )/m).filter((section) => !section.startsWith('## From spidernet-io/bmc'));
  return [...sections.join('').matchAll(/^( *)```(sh|yaml)\n([\s\S]*?)^\1```/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

let folder: string;
let cluster: PrivateCluster;
const plugin = new KubectlPlugin();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-hosts-'));
  symlinkSync(AGENT_BIN, join(folder, 'vmdhcp-agent'));
  symlinkSync(CONTROLLER_BIN, join(folder, 'vmdhcp-controller'));
  writeFileSync(join(folder, 'ca.crt'), 'a certificate');
  writeFileSync(join(folder, 'dhcpd.leases'), LEASES);
  cluster = await PrivateCluster.start(['crds.yaml', 'bare metal'], { nodes: [{ name: 'node-1', labels: {} }] });
  await cluster.startController('--namespace', 'vm-dhcp-agents', '--image', 'agent:v1', '--bare-metal');
});

afterAll(async () => {
  await cluster.close();
  plugin.close();
  rmSync(folder, { recursive: true });
});

/** What a person who types it sees; fails with that if it fails. */
async function type(command: string): Promise<string> {
  const env = { KUBECONFIG: cluster.adminKubeconfig, HOME: folder, PATH: [folder, plugin.path].join(delimiter) };
  const shell = new LabProcess('sh', ['-c', `cd '${folder}' && ${command}`], { env });
  const { code } = await shell.ended();
  const output = shell.lines.join('\n');
  expect(code, `${command}\n${output}`).toBe(0);
  return output;
}

/** As an agent writes it. */
async function createHosts(): Promise<void> {
  for (const last of HOSTS) {
    const [name, ipAddr] = [`rack-1-192-168-0-${last}`, `192.168.0.${last}`];
    const labels = { 'bmc.spidernet.io/mode': 'dhcp', 'bmc.spidernet.io/dhcp-ip-active': 'true' };
    await cluster.admin.create({ apiVersion: 'bmc.spidernet.io/v1beta1', kind: 'HostStatus', metadata: { name, labels } });
    const basic = { type: 'dhcp', ipAddr, mac: `02:00:5e:00:60:${last}`, https: true, port: 443, activeDhcpClient: true };
    await writeStatus('hoststatus', name, { healthy: true, clusterAgent: 'rack-1', basic, info: {} });
  }
}

const writeStatus = (kind: string, name: string, status: object) =>
  type(`kubectl patch ${kind} ${name} --subresource=status --type=merge -p '${JSON.stringify({ status })}'`);

const isRunnable = (line: string) =>
  /^(kubectl|vmdhcp-\w+) /.test(line) && !line.includes(' logs ') && !line.includes('manifests/');

async function take({ language, text }: Block): Promise<void> {
  if (language === 'sh') {
    for (const line of text.split('\n').filter(isRunnable)) {
      // This command alone sends protobuf, which the simulated API server does not take.
      await type(line.includes('create secret') ? `${line} --dry-run=client -o yaml | kubectl apply -f -` : line);
      if (line.includes('--for=condition=Ready')) await createHosts();
    }
  } else if (text.includes('kind: ClusterAgent')) {
    writeFileSync(join(folder, 'rack-1.yaml'), text);
  } else {
    writeFileSync(join(folder, 'object.yaml'), text);
    await type('kubectl apply -f object.yaml');
    if (text.includes('kind: HostOperation'))
      await writeStatus('hostoperation', 'reinstall-1', { status: 'success', message: 'done' });
  }
}

it.skipIf(!has('kubectl'))(
  `the commands of bare-metal hosts work as they are written, one after the other ${needs('kubectl')}`,
  async () => {
    const blocks = blocksOf(GUIDE);
    const kinds = blocks.flatMap(({ language, text }) => (language === 'yaml' ? (/^kind: (\w+)/m.exec(text)?.[1] ?? []) : []));
    expect(kinds).toEqual(['ClusterAgent', 'HostEndpoint', 'HostOperation']);
    const commands = blocks.flatMap(({ language, text }) => (language === 'sh' ? text.split('\n').filter(isRunnable) : []));
    for (const program of ['kubectl create secret', 'vmdhcp-controller check', 'vmdhcp-agent bind', 'vmdhcp-agent import'])
      expect(
        commands.some((command) => program.split(' ').every((word) => command.includes(word))),
        program,
      ).toBe(true);
    for (const block of blocks) await take(block);
    const left = async (kind: string, key: string) => (await cluster.admin.get(kind, key)) as KubernetesObject | undefined;
    expect(await left('ClusterAgent', 'rack-1')).toBeUndefined();
    for (const last of HOSTS) expect(await left('HostStatus', `rack-1-192-168-0-${last}`)).toBeUndefined();
    expect(await type('kubectl -n vm-dhcp-agents get leaseslices')).toContain('No resources found');
  },
);
