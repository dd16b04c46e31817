/** The programs run out of their images, as containerd runs them: as the image's user, on a root file system that is read-only. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AGENT_NAMESPACE,
  acquire,
  CONTROLLER_NAMESPACE,
  freePort,
  has,
  ipPool,
  Lab,
  LabCluster,
  needs,
  networkAttachment,
  serviceAccountToken,
  UNPRIVILEGED,
  UnpackedImage,
  virtualMachine,
  waitFor,
} from '@vmdhcp/lab';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

const POOL = 'default/net-48';
const MAC = '02:00:5e:00:48:01';

let folder: string;
let controller: UnpackedImage;
let agent: UnpackedImage;
let lab: Lab;

const hasRuntime = has('crun', 'skopeo', 'umoci');

beforeAll(() => {
  if (!hasRuntime) return;
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-containers-'));
  const layouts = inject('layouts');
  controller = new UnpackedImage(join(layouts, 'controller'), join(folder, 'controller'));
  agent = new UnpackedImage(join(layouts, 'agent'), join(folder, 'agent'));
});

afterAll(() => {
  if (hasRuntime) rmSync(folder, { recursive: true });
});

beforeEach(() => {
  lab = new Lab();
});

afterEach(() => lab.dispose());

describe.runIf(hasRuntime)(`the images ${hasRuntime ? '' : needs('crun', 'skopeo', 'umoci')}`, () => {
  it('print their version and their help without any capability', async () => {
    for (const image of [controller, agent]) {
      for (const flag of ['--version', '--help']) {
        const program = image.start(lab, { args: [flag], securityContext: UNPRIVILEGED });
        expect(await program.ended(), program.lines.join('\n')).toMatchObject({ code: 0 });
        expect(program.lines.join('\n')).toMatch(flag === '--version' ? /^\d+\.\d+\.\d+/m : /Usage: vmdhcp-/);
      }
    }
  });

  it.runIf(has('udhcpc'))(
    'give a virtual machine its address: the controller without a privilege, agents in pods with the security context of their Deployment',
    async () => {
      const lines: string[] = [];
      lab.addNetwork('br48');
      const web = lab.addMachine('web', { network: 'br48', macAddress: MAC });
      const cluster = await LabCluster.start(lab, {
        networks: { 'default/vlan-48': 'br48' },
        startContainer: (container) => agent.startPod(lab, container),
        onLine: (who, line) => lines.push(`${who} ${line}`),
      });
      try {
        const port = await freePort();
        const kubeconfig = join(folder, 'kubeconfig');
        const token = await serviceAccountToken(cluster.access, CONTROLLER_NAMESPACE, 'vm-dhcp-controller');
        writeFileSync(kubeconfig, cluster.simulator.kubeconfig({ name: 'vm-dhcp-controller', token }), { mode: 0o644 });
        const args = ['run', '--kubeconfig', '/etc/kubeconfig', '--namespace', AGENT_NAMESPACE, '--image', 'vmdhcp-agent:lab'];
        controller.start(
          lab,
          { args: [...args, '--http', `127.0.0.1:${port}`], mounts: { [kubeconfig]: '/etc/kubeconfig' } },
          { onLine: (line) => lines.push(`controller ${line}`) },
        );
        await waitFor(
          'the controller',
          async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.ok,
          20_000,
        );
        await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
        await cluster.access.create(ipPool(POOL, { network: 'default/vlan-48' }));
        await cluster.access.create(virtualMachine('default/web', MAC, 'default/vlan-48'));
        await cluster.agentReady(POOL);
        const { address } = await acquire('udhcpc', web);
        expect(address).toBe('10.1.0.10');
        const holder = await waitFor('a leader', () => cluster.holders(POOL)[0]);
        const status = await waitFor('its process', () => statusOf(holder.process?.pid ?? 0));
        expect(status).toMatchObject({
          Uid: '65532',
          NoNewPrivs: '1',
          CapEff: CAPABILITIES,
          CapPrm: CAPABILITIES,
          CapBnd: CAPABILITIES,
        });
        expect(status['Seccomp']).toBe('2');
        expect(lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
      } finally {
        await cluster.stop();
      }
    },
  );

  it('report an agent without its capabilities: its log has the remedy, and its pod is never ready, so that an upgrade goes no further', async () => {
    const lines: string[] = [];
    lab.addNetwork('br48');
    const cluster = await LabCluster.start(lab, {
      networks: { 'default/vlan-48': 'br48' },
      startContainer: (container) => agent.startPod(lab, { ...container, securityContext: UNPRIVILEGED }),
      onLine: (who, line) => lines.push(`${who} ${line}`),
    });
    try {
      await cluster.startController();
      await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
      await cluster.access.create(ipPool(POOL, { network: 'default/vlan-48' }));
      const why = await waitFor('an agent that is not ready', async () => {
        const [pod] = cluster.pods.values();
        const page = pod && (await fetch(`${pod.url}/readyz`).catch(() => undefined));
        const text = (await page?.text()) ?? '';
        return page?.status === 503 && text.startsWith(POOL) ? text : undefined;
      });
      expect(why).toMatch(/^default\/net-48: interface \S+ is /);
      expect(lines.join('\n')).toContain(
        'may not use CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_NET_ADMIN. In a cluster: add them to',
      );
    } finally {
      await cluster.stop();
    }
  });
});

/** NET_BIND_SERVICE, NET_ADMIN, NET_RAW. */
const CAPABILITIES = '0000000000003400';

/** What the kernel reports of the program in a container. @param pid - Of crun. */
function statusOf(pid: number): Readonly<Record<string, string>> | undefined {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (child === '') return undefined;
  const lines = readFileSync(`/proc/${child}/status`, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => /^(\w+):\s+(\S*)/.exec(line)?.slice(1, 3) ?? []));
}
