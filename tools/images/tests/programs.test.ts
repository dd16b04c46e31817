/** The programs run out of their images, as containerd runs them: as the image's user, on a root file system that is read-only. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  AGENT_NAMESPACE,
  acquire,
  CONTROLLER_NAMESPACE,
  freePort,
  has,
  installedForPage,
  ipPool,
  KubectlPlugin,
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
import { loadPage, readAnswer } from './load-page.js';

const POOL = 'default/net-48';
const MAC = '02:00:5e:00:48:01';

/** The security context of agents. */
const OF_AGENTS = { ...UNPRIVILEGED, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE', 'NET_RAW', 'NET_ADMIN'] } };

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

  it('check a file of pools, which loads what reads YAML', async () => {
    const pools = join(folder, 'checked.yaml');
    writeFileSync(pools, JSON.stringify(ipPool(POOL)), { mode: 0o644 });
    const words = [
      [controller, ['check', '-f', '/etc/pools.yaml']],
      [agent, ['check', '/etc/pools.yaml']],
    ] as const;
    for (const [image, args] of words) {
      const checking = image.start(lab, { args, mounts: { [pools]: '/etc/pools.yaml' } });
      expect(await checking.ended(), checking.lines.join('\n')).toMatchObject({ code: 0 });
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
        execInContainer: (container, command) => agent.exec(container, command),
        isInstalled: false,
        onLine: (who, line) => lines.push(`${who} ${line}`),
      });
      try {
        const [port, pagePort] = [await freePort(), await freePort()];
        await cluster.access.applyAll(installedForPage());
        const kubeconfig = join(folder, 'kubeconfig');
        const token = await serviceAccountToken(cluster.access, CONTROLLER_NAMESPACE, 'vm-dhcp-controller');
        writeFileSync(kubeconfig, cluster.simulator.kubeconfig({ name: 'vm-dhcp-controller', token }), { mode: 0o644 });
        const args = ['run', '--kubeconfig', '/etc/kubeconfig', '--namespace', AGENT_NAMESPACE, '--image', 'vmdhcp-agent:lab'];
        args.push('--ui', '--ui-listen', `127.0.0.1:${pagePort}`);
        // A busy machine makes no leader look lost, which would be a warning.
        args.push('--agent-lease-seconds', '20');
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
        await packetsAreShown(cluster, () => acquire('udhcpc', web));
        await pageIsShown(cluster, `http://127.0.0.1:${pagePort}/`);
        expect(lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
      } finally {
        await cluster.stop();
      }
    },
  );

  it('serve a bare host, and its page: the agent with its state in a folder of its own', async () => {
    lab.addNetwork('br48');
    const port = await freePort();
    const pools = join(folder, 'pools.yaml');
    writeFileSync(pools, JSON.stringify(ipPool(POOL)), { mode: 0o644 });
    const args = ['serve', '--pools', '/etc/pools.yaml', '--interface', `${POOL}=br48`, '--configure-interfaces'];
    args.push('--state', '/dev/shm/state', '--http', 'off', '--ui', '--ui-listen', `127.0.0.1:${port}`);
    const serving = agent.start(lab, { args, securityContext: OF_AGENTS, mounts: { [pools]: '/etc/pools.yaml' } });
    await serving.line('the page is served', 20_000);
    const { paths, problems } = await loadPage(`http://127.0.0.1:${port}/`);
    expect([problems, paths.length > 30]).toEqual([[], true]);
    const overview = await readAnswer(`http://127.0.0.1:${port}/api/overview`);
    expect([overview.status, overview.body.includes(`"${POOL}"`)]).toEqual([200, true]);
    const asked = agent.exec(serving, [...agent.program, 'clients', '--json', '--state', '/dev/shm/state']);
    const [stdout, stderr, code] = await Promise.all([text(asked.stdout), text(asked.stderr), asked.exited]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ clients: [] });
    expect(serving.lines.filter((line) => /"level":"(warn|error|fatal)"/.test(line))).toEqual([]);
  });

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

/** `kubectl vmdhcp top` and `capture`: commands beside the agent, over its control socket. */
async function packetsAreShown(cluster: LabCluster, acquireAgain: () => Promise<unknown>): Promise<void> {
  const plugin = new KubectlPlugin();
  try {
    const top = await plugin.run(cluster.kubeconfigPath, ['top', '-o', 'json']);
    expect(top).toMatchObject({ code: 0, stderr: '' });
    const { pools, clients } = JSON.parse(top.stdout) as Readonly<Record<'pools' | 'clients', readonly object[]>>;
    expect(pools).toMatchObject([{ pool: POOL, clients: 1 }]);
    expect(clients).toMatchObject([{ macAddress: MAC, pool: POOL }]);
    const file = join(folder, 'dhcp.pcapng');
    const capture = plugin.start(cluster.kubeconfigPath, ['capture', POOL, '--mac', MAC, '--packets', '4', '--write', file]);
    // The head of the file: the capture has begun.
    await waitFor('the capture', () => capture.hasEnded || (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0, 20_000);
    await acquireAgain();
    expect(await capture.ended(40_000), capture.lines.join('\n')).toMatchObject({ code: 0 });
    expect(capture.lines.at(-1)).toBe(`${file}: 4 packets written, none lost`);
  } finally {
    plugin.close();
  }
}

async function pageIsShown({ access }: LabCluster, url: string): Promise<void> {
  const { paths, problems } = await loadPage(url);
  expect(problems).toEqual([]);
  expect(paths).toEqual(expect.arrayContaining(['/', '/assets/browser/main.js', '/assets/icon.svg', '/assets/style.css']));
  expect(await readAnswer(`${url}api/overview`)).toMatchObject({ status: 401 });
  const reader = { namespace: 'default', name: 'reader' };
  await access.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: reader });
  await access.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'vm-dhcp-page-reader' },
    subjects: [{ kind: 'ServiceAccount', ...reader }],
  } as never);
  const token = await serviceAccountToken(access, reader.namespace, reader.name);
  const overview = await readAnswer(`${url}api/overview`, token);
  expect(overview).toMatchObject({ status: 200 });
  expect(overview.body).toContain(`"${POOL}"`);
}

/** NET_BIND_SERVICE, NET_ADMIN, NET_RAW. */
const CAPABILITIES = '0000000000003400';

/** What the kernel reports about the program in a container. @param pid - the process id of crun. */
function statusOf(pid: number): Readonly<Record<string, string>> | undefined {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  if (child === '') return undefined;
  const lines = readFileSync(`/proc/${child}/status`, 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => /^(\w+):\s+(\S*)/.exec(line)?.slice(1, 3) ?? []));
}
