/** npm run bench -- images: from the start of a container to ready, out of the images, and of this checkout without one. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  AGENT_NAMESPACE,
  CONTROLLER_BIN,
  type ContainerOfPod,
  ipPool,
  Lab,
  LabCluster,
  type LabProcess,
  networkAttachment,
  serviceAccountToken,
  startCheckout,
  UnpackedImage,
  waitFor,
} from '@vmdhcp/lab';
import { Command } from 'commander';
import { markdown } from './tables.js';

const BUILD = fileURLToPath(new URL('../../../scripts/tasks/images.mjs', import.meta.url));
const CGROUPS = '/sys/fs/cgroup/unified';
const SECRETS = '/var/run/secrets/kubernetes.io/serviceaccount';
const LOOK_MS = 5;
const LONGEST_MS = 60_000;
let lastPort = 18_600;

const options = new Command('npm run bench -- images')
  .description('Measures how long programs need from the start of their container to ready.')
  .option('--rounds <n>', 'starts of each program', '5')
  .addHelpText('after', '\nExamples:\n  npm run bench -- images\n  npm run bench -- images --rounds 10\n')
  .parse()
  .opts<{ readonly rounds: string }>();

/** Milliseconds to ready. */
interface Times {
  readonly controller: number[];
  readonly agent: number[];
}

const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-images-'));
execFileSync(process.execPath, [BUILD, 'build', '--arch', process.arch === 'x64' ? 'amd64' : 'arm64', '--output', folder]);
// crun does not run where control groups of both versions are mounted.
if (existsSync(CGROUPS)) execFileSync('mount', ['--bind', CGROUPS, '/sys/fs/cgroup']);
const images = {
  controller: new UnpackedImage(join(folder, 'controller'), join(folder, 'unpacked-controller')),
  agent: new UnpackedImage(join(folder, 'agent'), join(folder, 'unpacked-agent')),
};
const ofImages: Times = { controller: [], agent: [] };
const ofCheckout: Times = { controller: [], agent: [] };
for (let round = 0; round < Number(options.rounds); round++) {
  await measure(ofImages, true);
  await measure(ofCheckout, false);
}
const rows = (['controller', 'agent'] as const).map((program) => [
  program,
  spread(ofImages[program]),
  spread(ofCheckout[program]),
  program === 'controller' ? '2' : '1.5',
]);
process.stdout.write(`\n${markdown(['program', 'out of its image, s', 'without a container, s', 'goal, s'], rows)}\n`);
rmSync(folder, { recursive: true });
process.exit(0);

/** A controller in an empty cluster, then one pool and the two agents that the controller starts for it. */
async function measure(times: Times, isImage: boolean): Promise<void> {
  const lab = new Lab();
  lab.addNetwork('br48');
  const startedAtMs = new Map<string, number>();
  const startContainer = (container: ContainerOfPod): LabProcess => {
    startedAtMs.set(container.env['POD_NAME'] ?? '', performance.now());
    return isImage ? images.agent.startPod(lab, container) : startCheckout(container);
  };
  const networks = { 'default/vlan-48': 'br48' };
  const cluster = await LabCluster.start(lab, { networks, startContainer });
  try {
    times.controller.push(await startController(lab, cluster, isImage));
    await cluster.access.create(networkAttachment('default/vlan-48', 'mgmt'));
    await cluster.access.create(ipPool('default/net-48', { network: 'default/vlan-48' }));
    const pods = await waitFor('agents', () => (cluster.pods.size === 2 ? [...cluster.pods.values()] : undefined), LONGEST_MS);
    const ready = pods.map(async (pod) => {
      await pod.ready;
      return performance.now() - (startedAtMs.get(pod.name) ?? 0);
    });
    times.agent.push(...(await Promise.all(ready)));
  } finally {
    await cluster.stop();
    await lab.dispose();
  }
}

/** As in a pod: by the token of its ServiceAccount. */
async function startController(lab: Lab, { access, simulator }: LabCluster, isImage: boolean): Promise<number> {
  const token = await serviceAccountToken(access, 'harvester-system', 'vm-dhcp-controller');
  const files = { 'ca.crt': simulator.caCertificate ?? '', namespace: 'harvester-system', token };
  mkdirSync(SECRETS, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(SECRETS, name), content);
  const { hostname, port } = new URL(simulator.url);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, POD_NAMESPACE: 'harvester-system' };
  const http = `127.0.0.1:${++lastPort}`;
  const args = ['run', '--namespace', AGENT_NAMESPACE, '--image', 'vmdhcp-agent:lab', '--http', http];
  const startedAtMs = performance.now();
  if (isImage) images.controller.start(lab, { args, env, mounts: { [SECRETS]: SECRETS } });
  else lab.start(process.execPath, [CONTROLLER_BIN, ...args], { env });
  while ((await fetch(`http://${http}/readyz`).catch(() => undefined))?.ok !== true) await delay(LOOK_MS);
  return performance.now() - startedAtMs;
}

function spread(durationsMs: readonly number[]): string {
  const sorted = durationsMs.toSorted((a, b) => a - b).map((durationMs) => (durationMs / 1000).toFixed(2));
  return `${sorted[0]} to ${sorted.at(-1)}, median ${sorted[Math.floor(sorted.length / 2)]}`;
}
