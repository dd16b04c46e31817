/** npm run bench:control: virtual machines by the thousand, from their creation until all have their addresses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import { ClusterAccess, CONTROLLER_BIN, ipPool, SIMULATOR_BIN, virtualMachine, waitFor } from '@vmdhcp/lab';

import { markdown } from './tables.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/cluster', import.meta.url));
const CONTROLLER_HTTP = '127.0.0.1:18099';
/** Requests at a time, as a busy platform makes them. */
const CREATIONS_AT_ONCE = 16;

interface Row {
  readonly machines: number;
  readonly createdAfterMs: number;
  readonly allAddressedAfterMs: number;
  readonly writesPerMachine: number;
  readonly poolPatches: number;
  readonly controllerCpuMs: number;
}

const counts = process.argv
  .slice(2)
  .map(Number)
  .filter((count) => count > 0);
const rows: Row[] = [];
for (const count of counts.length > 0 ? counts : [1, 1_000, 10_000]) {
  process.stderr.write(`${count} virtual machines ... `);
  const row = await measure(count);
  process.stderr.write(`${(row.allAddressedAfterMs / 1000).toFixed(1)} s\n`);
  rows.push(row);
}
process.stdout.write(
  `${markdown(
    ['virtual machines', 'created after', 'all have addresses after', 'API writes each', 'patches of the pool', 'controller CPU'],
    rows.map((row) => [
      row.machines.toLocaleString('en'),
      `${(row.createdAfterMs / 1000).toFixed(2)} s`,
      `${(row.allAddressedAfterMs / 1000).toFixed(2)} s`,
      row.writesPerMachine.toFixed(2),
      String(row.poolPatches),
      `${(row.controllerCpuMs / 1000).toFixed(2)} s`,
    ]),
  )}\n`,
);

async function measure(count: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const started: ChildProcess[] = [];
  try {
    started.push(run(SIMULATOR_BIN, ['--kubeconfig', kubeconfig]));
    const cluster = await waitFor('the API server', () => ClusterAccess.open(kubeconfig).catch(() => undefined), 20_000);
    await waitFor(
      'the API server to answer',
      () =>
        cluster.list('Namespace').then(
          () => true,
          () => false,
        ),
      20_000,
    );
    await cluster.applyFile(join(EXAMPLES, 'crds.yaml'));
    started.push(
      run(CONTROLLER_BIN, [
        ...[
          'run',
          '--kubeconfig',
          kubeconfig,
          '--no-agent',
          '--no-leader-election',
          '--http',
          CONTROLLER_HTTP,
          '--log-level',
          'warn',
        ],
      ]),
    );
    await waitFor('the controller', async () => (await metric('vmdhcpcontroller_leading').catch(() => 0)) > 0, 20_000);
    await cluster.create({
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { namespace: 'default', name: 'net' },
      spec: {},
    });
    await cluster.create(pool());
    await cluster.waitForObject('IPPool', 'default/pool', ({ status }) => readConditions(status).length > 0);
    const row = await fill(cluster, count);
    cluster.close();
    return row;
  } finally {
    for (const child of started.reverse()) {
      child.kill('SIGTERM');
      await new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(undefined)));
    }
    rmSync(folder, { recursive: true });
  }
}

async function fill(cluster: ClusterAccess, count: number): Promise<Row> {
  const writesBefore = await writes();
  const cpuBefore = await metric('process_cpu_seconds_total');
  const addressed = countAddressed(cluster, count);
  const begunAtMs = performance.now();
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < count) await cluster.create(machineNumber(next++));
  };
  await Promise.all(Array.from({ length: CREATIONS_AT_ONCE }, create));
  const createdAfterMs = performance.now() - begunAtMs;
  const doneAtMs = await addressed;
  const after = await writes();
  return {
    machines: count,
    createdAfterMs,
    allAddressedAfterMs: doneAtMs - begunAtMs,
    writesPerMachine: (after.all - writesBefore.all) / count,
    poolPatches: after.pool - writesBefore.pool,
    controllerCpuMs: 1000 * ((await metric('process_cpu_seconds_total')) - cpuBefore),
  };
}

/** Resolves with the moment at which the last one has its address. */
async function countAddressed(cluster: ClusterAccess, count: number): Promise<number> {
  const addressed = new Set<string>();
  const client = cluster.client('VirtualMachineNetworkConfig');
  const { resourceVersion } = await client.list({ limit: 1 });
  return await new Promise<number>((resolve, reject) => {
    const stop = client.watch(resourceVersion, {
      onEvent: (event) => {
        if (event.type === 'bookmark' || !hasAddress(event.object)) return;
        addressed.add(event.object.metadata.name);
        if (addressed.size < count) return;
        stop();
        resolve(performance.now());
      },
      onEnd: (end) => reject(new Error(`the watch ended: ${JSON.stringify(end)}`)),
    });
  });
}

function hasAddress({ status }: KubernetesObject): boolean {
  return readConditions(status).some(({ type, status: state }) => type === 'Allocated' && state === 'True');
}

async function writes(): Promise<{ readonly all: number; readonly pool: number }> {
  const lines = (await metrics()).filter((line) =>
    /^vmdhcpcontroller_api_requests_total\{.*method="(POST|PATCH|PUT|DELETE)"/.test(line),
  );
  const sum = (some: readonly string[]) => some.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
  return { all: sum(lines), pool: sum(lines.filter((line) => line.includes('resource="ippools/status"'))) };
}

async function metric(name: string): Promise<number> {
  const line = (await metrics()).find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

async function metrics(): Promise<string[]> {
  return (await (await fetch(`http://${CONTROLLER_HTTP}/metrics`)).text()).split('\n');
}

function run(bin: string, parameters: readonly string[]): ChildProcess {
  return spawn(process.execPath, [bin, ...parameters], { stdio: ['ignore', 'ignore', 'inherit'] });
}

function pool(): KubernetesObject {
  const pool = { start: '10.0.1.0', end: '10.0.99.255' };
  const ipv4Config = { cidr: '10.0.0.0/16', serverIP: '10.0.0.2', router: '10.0.0.1', pool };
  return ipPool('default/pool', { network: 'default/net', ipv4Config });
}

function machineNumber(index: number): KubernetesObject {
  const octets = [index >> 16, index >> 8, index].map((octet) => (octet & 0xff).toString(16).padStart(2, '0'));
  return virtualMachine(`default/vm-${index}`, `02:00:5e:${octets.join(':')}`, 'default/net');
}
