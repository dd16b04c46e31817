/** npm run bench -- control: virtual machines by the thousand, created until all have their addresses, and deleted until all are free. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KubernetesObject, readConditions, readField } from '@vmdhcp/kube-runtime';
import { ClusterAccess, CONTROLLER_BIN, ipPool, SIMULATOR_BIN, virtualMachine, waitFor } from '@vmdhcp/lab';

import { markdown } from './tables.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/cluster', import.meta.url));
const CONTROLLER_HTTP = '127.0.0.1:18099';
/** Requests at a time, as a busy platform makes them. */
const REQUESTS_AT_ONCE = 16;

interface Row {
  readonly machines: number;
  readonly createdAfterMs: number;
  readonly allAddressedAfterMs: number;
  readonly writesPerMachine: number;
  readonly poolPatches: number;
  readonly controllerCpuMs: number;
  readonly controllerMegabytes: number;
  readonly deleted: DeletionRow;
}

interface DeletionRow {
  /** From the first deletion. */
  readonly deletedAfterMs: number;
  readonly allFreeAfterMs: number;
  readonly poolPatches: number;
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
    [
      'virtual machines',
      'created after',
      'all have addresses after',
      'API writes each',
      'patches of the pool',
      'controller CPU',
      'controller RSS MB',
    ],
    rows.map((row) => [
      row.machines.toLocaleString('en'),
      seconds(row.createdAfterMs),
      seconds(row.allAddressedAfterMs),
      row.writesPerMachine.toFixed(2),
      String(row.poolPatches),
      seconds(row.controllerCpuMs),
      row.controllerMegabytes.toFixed(0),
    ]),
  )}\n\n${markdown(
    ['virtual machines', 'deleted after', 'all addresses free after', 'patches of the pool'],
    rows.map(({ machines, deleted }) => [
      machines.toLocaleString('en'),
      seconds(deleted.deletedAfterMs),
      seconds(deleted.allFreeAfterMs),
      String(deleted.poolPatches),
    ]),
  )}\n`,
);

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

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
  await each(count, async (index) => void (await cluster.create(machineNumber(index))));
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
    controllerMegabytes: (await metric('process_resident_memory_bytes')) / 2 ** 20,
    deleted: await empty(cluster, count),
  };
}

async function empty(cluster: ClusterAccess, count: number): Promise<DeletionRow> {
  const client = cluster.client('VirtualMachine');
  const uids = new Map((await cluster.list('VirtualMachine')).map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  const before = await writes();
  const begunAtMs = performance.now();
  await each(count, async (index) => void (await client.delete(`default/vm-${index}`, uids.get(`vm-${index}`) ?? '')));
  const deletedAfterMs = performance.now() - begunAtMs;
  const isFree = async () => readField((await cluster.get('IPPool', 'default/pool'))?.status, 'ipv4', 'used') === 0 || undefined;
  await waitFor('all addresses to be free', isFree, 600_000);
  const allFreeAfterMs = performance.now() - begunAtMs;
  return { deletedAfterMs, allFreeAfterMs, poolPatches: (await writes()).pool - before.pool };
}

/** So many requests, some at a time. */
async function each(count: number, request: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await request(next++);
  };
  await Promise.all(Array.from({ length: REQUESTS_AT_ONCE }, work));
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
