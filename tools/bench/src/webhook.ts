/**
 * npm run bench -- webhook: a webhook process on one core, with 1,000 IPPools and 10,000 virtual machines in its caches, and 500 AdmissionReviews a
 * second over TLS. Latency is what the API server would see.
 */
import { spawnSync } from 'node:child_process';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';
import type { KubeSimulator } from '@vmdhcp/kube-simulator';
import {
  CLUSTER_EXAMPLES,
  CONTROLLER_NAMESPACE,
  type LabProcess,
  networkAttachment,
  PrivateCluster,
  virtualMachine,
} from '@vmdhcp/lab';
import { macOf, poolConfig } from './large-objects.js';
import { usageOf } from './process-usage.js';

const POOLS = 1_000;
const MACHINES = 10_000;
const PER_SECOND = 500;
const SECONDS = Number(process.argv[2] ?? 20);
const SLICES = SECONDS > 60 ? 10 : 4;
const GROUP = 'network.harvesterhci.io';
const DEFINITIONS = ['ippools', 'virtualmachinenetworkconfigs'];
const NAME = 'vm-dhcp-webhook';
const NAMESPACE = CONTROLLER_NAMESPACE;

type Fields = Parameters<KubeSimulator['client']['create']>[1];

const cluster = await PrivateCluster.start(['crds.yaml']);
try {
  await fill();
  const { process: webhook, port } = await cluster.startWebhook('--no-register');
  pin(webhook);
  await load(webhook, port);
} finally {
  await cluster.close();
}

async function fill(): Promise<void> {
  const crds = join(CLUSTER_EXAMPLES, '../../packages/ippool-api/crds');
  for (const plural of DEFINITIONS) await cluster.admin.applyFile(join(crds, `${plural}.yaml`));
  const { client } = cluster.simulator;
  const networks = { group: 'k8s.cni.cncf.io', resource: 'network-attachment-definitions', namespace: 'default' };
  // Waits until the kinds are served.
  await cluster.admin.create(networkAttachment('default/first'));
  await cluster.admin.create(poolOf('first', POOLS) as unknown as KubernetesObject);
  await cluster.admin.create(virtualMachine('default/first', macOf(MACHINES), 'default/first'));
  for (let index = 0; index < POOLS; index += 1) {
    await client.create(networks, networkAttachment(`default/net-${index}`) as unknown as Fields);
    await client.create({ group: GROUP, resource: 'ippools', namespace: 'default' }, poolOf(`net-${index}`, index));
  }
  const machines = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: 'default' };
  for (let index = 0; index < MACHINES; index += 1) await client.create(machines, machineOf(index));
}

function poolOf(name: string, index: number): Fields {
  return {
    apiVersion: `${GROUP}/v1alpha1`,
    kind: 'IPPool',
    metadata: { namespace: 'default', name },
    spec: { networkName: `default/${name}`, ipv4Config: poolConfig(index, POOLS) as Fields },
  };
}

function machineOf(index: number): Fields {
  return virtualMachine(`default/vm-${index}`, macOf(index), `default/net-${index % POOLS}`) as unknown as Fields;
}

/** The webhook has one core, and everything else the other. */
function pin({ pid }: LabProcess): void {
  for (const [core, one] of [
    ['0', pid],
    ['1', process.pid],
  ] as const)
    spawnSync('taskset', ['-a', '-p', '-c', core, String(one)]);
}

/** What comes in turn: virtual machines mostly, with a MAC address that another one has now and then; pools that change, and wrong ones. */
function reviewOf(count: number): { readonly path: string; readonly body: string } {
  const index = (count * 7919) % MACHINES;
  if (count % 5 === 0) {
    const object = poolOf(`net-${index % POOLS}`, index % POOLS);
    const oldObject = { ...object, spec: { ...(object['spec'] as Fields), paused: true } };
    return review('ippools', 'UPDATE', { object, oldObject });
  }
  if (count % 5 === 1) {
    const object = { ...poolOf('wrong', 0), spec: { networkName: 'default/net-0', ipv4Config: { cidr: '10.1.2.3.4/33' } } };
    return review('ippools', 'CREATE', { object });
  }
  const object = {
    ...machineOf(index),
    metadata: { namespace: 'default', name: count % 2 === 0 ? `new-${count}` : `vm-${index}` },
  };
  return review('virtualmachines', 'CREATE', { object });
}

function review(resource: string, operation: string, objects: Fields): { readonly path: string; readonly body: string } {
  const asked = { uid: 'u', resource: { resource }, operation, namespace: 'default', name: 'a', ...objects };
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: asked });
  return { path: '/v1/webhook/validation', body };
}

async function load(webhook: LabProcess, port: number): Promise<void> {
  const secret = cluster.simulator.client.get({ resource: 'secrets', namespace: NAMESPACE, name: `${NAME}-tls` });
  const ca = Buffer.from(readText(secret, 'data', 'ca.crt') ?? '', 'base64').toString();
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const send = (count: number) =>
    new Promise<number>((resolve, reject) => {
      const { path, body } = reviewOf(count);
      const begunMs = performance.now();
      const options = { host: '127.0.0.1', port, servername: `${NAME}.${NAMESPACE}.svc`, path, method: 'POST', ca, agent };
      const sent = request(options, (response) => {
        response.resume();
        response.once('end', () =>
          response.statusCode === 200 ? resolve(performance.now() - begunMs) : reject(new Error(`HTTP ${response.statusCode}`)),
        );
      });
      sent.once('error', reject);
      sent.end(body);
    });
  process.stdout.write(`${POOLS} IPPools, ${MACHINES} virtual machines, ${PER_SECOND} requests a second, one core\n\n`);
  process.stdout.write(
    '| slice | requests | p50 ms | p99 ms | p99.9 ms | most ms | core used | resident MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  );
  for (let slice = 0; slice < SLICES; slice += 1) {
    const before = usageOf(webhook.pid);
    const durationsMs = await runFor((SECONDS * 1000) / SLICES, send);
    const after = usageOf(webhook.pid);
    const coreSeconds = after.userSeconds + after.kernelSeconds - before.userSeconds - before.kernelSeconds;
    const sorted = durationsMs.toSorted((one, other) => one - other);
    const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
    const core = `${Math.round((coreSeconds / (SECONDS / SLICES)) * 100)} %`;
    const cells = [slice + 1, sorted.length, at(0.5), at(0.99), at(0.999), at(1), core, Math.round(after.residentMegabytes)];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
  agent.destroy();
}

/** Requests at their times, whether or not those before were answered. */
async function runFor(durationMs: number, send: (count: number) => Promise<number>): Promise<readonly number[]> {
  const begunMs = performance.now();
  const answers: Promise<number>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = Math.min(performance.now() - begunMs, durationMs);
      while (answers.length < (elapsedMs / 1000) * PER_SECOND) answers.push(send(answers.length));
      if (elapsedMs < durationMs) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  return await Promise.all(answers);
}
