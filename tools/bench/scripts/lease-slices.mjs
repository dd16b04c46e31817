// Leases of unknown clients in API objects: slices as the agent writes them, beside one object for each lease. The simulated API server is a process of its own;
// HTTPS on loopback. Options: --seconds N (5,000 leases arrive in it), --large N (leases of a large pool).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BindingRecorder, formatBindingRecord } from '@vmdhcp/dhcp-allocator';
import { ApiConnection, ApiObjectClient, connectByKubeConfig, systemClock } from '@vmdhcp/kube-runtime/node';
import { BindingObjects } from '../../../packages/agent-cli/dist/binding-objects/binding-objects.js';
import { leaseSlicePorts, newSlice } from '../../../packages/agent-cli/dist/binding-objects/lease-slices.js';
import { leaseSliceResource } from '../../../packages/ippool-api/dist/bare-metal/index.js';
import { toCustomResourceDefinition } from '../../../packages/ippool-api/dist/index.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, large: { type: 'string', default: '65000' }, only: { type: 'string' } },
});
const ARRIVING = 5_000;
const [SECONDS, LARGE] = [Number(values.seconds), Number(values.large)];
const NAMESPACE = 'leases';

const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-slices-'));
const kubeconfig = join(folder, 'kubeconfig');
const simulator = spawn(
  process.execPath,
  ['tools/kube-simulator/bin/kube-simulator.js', '--port', '0', '--kubeconfig', kubeconfig],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
await once(simulator.stdout, 'data');

let requests = 0;
const connection = new ApiConnection(await connectByKubeConfig({ path: kubeconfig }), {
  userAgent: 'bench',
  onRequest: () => requests++,
});
const core = (group, version, plural) => new ApiObjectClient(connection, { group, version, plural, namespaced: false });
await core('', 'v1', 'namespaces').create({ metadata: { name: NAMESPACE } });
await core('apiextensions.k8s.io', 'v1', 'customresourcedefinitions').create(toCustomResourceDefinition(leaseSliceResource));
const every = new ApiObjectClient(connection, {
  ...{ group: 'bmc.spidernet.io', version: 'v1beta1', plural: 'leaseslices', namespaced: true, namespace: NAMESPACE },
});
while ((await every.list({ limit: 1 }).catch(() => undefined)) === undefined)
  await new Promise((resolve) => setTimeout(resolve, 20));

let octets = 0;
const counted = (client) => ({
  ...client,
  guarded: undefined,
  create: (object) => {
    octets += JSON.stringify(object).length;
    return client.create(object);
  },
  patch: (target, patch) => {
    octets += JSON.stringify(patch).length;
    return client.patch(target, patch);
  },
});

function recordOf(client) {
  const macAddress = (0x020000000000 + client)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');
  const nowMs = Date.now();
  const times = { boundAtMs: nowMs, grantedAtMs: nowMs, endsAtMs: nowMs + 3_600_000, isReleased: false };
  return {
    kind: 'binding',
    poolName: 'rack-1',
    address: 0x0a4d0000 + client,
    macAddress,
    hostname: `node-${client}`,
    ...times,
  };
}

let names = 0;
function slicesLayout(headOctets) {
  const clusterAgent = `agent-${names++}`;
  const ports = leaseSlicePorts(connection, { namespace: NAMESPACE, clusterAgent });
  const settings = {
    ...{ ...ports, slices: counted(ports.slices), namespace: NAMESPACE, clusterAgent, replica: 'bench', clock: systemClock },
    ...{
      random: Math.random,
      onDamage: console.error,
      onTakenOver: console.error,
      limits: { headOctets, sliceOctets: 256 << 10 },
    },
  };
  return {
    name: `slices, head of ${headOctets >> 10} KiB`,
    open: async () => (await BindingObjects.open(settings)).store,
    load: async () => [...(await BindingObjects.open(settings)).tables.values()].reduce((sum, { size }) => sum + size, 0),
    fill: async (store, records) => store.replace(records),
  };
}

function objectsLayout() {
  const label = `layout-${names++}`;
  const own = counted(every);
  const write = async (record) => {
    const metadata = {
      namespace: NAMESPACE,
      name: `${label}-${record.address}`,
      labels: { 'bmc.spidernet.io/leases-of': label },
    };
    const result = await own.create(
      newSlice(metadata, { leader: { identity: 'bench', term: 1 }, records: formatBindingRecord(record) }),
    );
    if (!result.ok) throw new Error(result.message);
  };
  const append = async (records) => {
    const rest = [...records];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (let next = rest.pop(); next !== undefined; next = rest.pop()) await write(next);
      }),
    );
  };
  return {
    name: 'one object for each lease',
    open: async () => ({ append }),
    load: async () => {
      const client = new ApiObjectClient(connection, {
        ...{ group: 'bmc.spidernet.io', version: 'v1beta1', plural: 'leaseslices', namespaced: true, namespace: NAMESPACE },
        labelSelector: `bmc.spidernet.io/leases-of=${label}`,
      });
      let [count, continueToken] = [0];
      do {
        const page = await client.list({ limit: 500, ...(continueToken && { continueToken }) });
        count += page.items.length;
        continueToken = page.continueToken;
      } while (continueToken !== undefined);
      return count;
    },
    fill: (store, records) => store.append(records),
  };
}

const cpuOf = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);

async function measured(work) {
  const before = { requests, octets, atMs: performance.now(), cpu: cpuOf(simulator.pid), own: cpuOf(process.pid) };
  const result = await work();
  return {
    result,
    ms: Math.round(performance.now() - before.atMs),
    requests: requests - before.requests,
    kib: Math.round((octets - before.octets) / 1024),
    serverCpuMs: cpuOf(simulator.pid) - before.cpu,
    ownCpuMs: cpuOf(process.pid) - before.own,
  };
}

async function arrive(layout) {
  const store = await layout.open();
  const recorder = new BindingRecorder({ store, openPoolOf: () => undefined, nowMs: Date.now, onFailed: console.error });
  const waits = [];
  const { result: _, ...costs } = await measured(async () => {
    const beganAtMs = performance.now();
    const all = [];
    for (let client = 0; client < ARRIVING; client++) {
      const dueMs = beganAtMs + (client * SECONDS * 1_000) / ARRIVING;
      const delayMs = dueMs - performance.now();
      if (delayMs > 1) await new Promise((resolve) => setTimeout(resolve, delayMs));
      const askedAtMs = performance.now();
      all.push(
        recorder.record(recordOf(client)).then((isRecorded) => {
          if (!isRecorded) throw new Error('not recorded');
          waits.push(performance.now() - askedAtMs);
        }),
      );
    }
    await Promise.all(all);
  });
  await store.close?.();
  waits.sort((one, other) => one - other);
  console.log(
    `${layout.name}: 5,000 in ${costs.ms} ms: ${costs.requests} requests, ${costs.kib} KiB sent; wait ms median ${at(waits, 0.5)}, 99 % ${at(waits, 0.99)}, ` +
      `most ${at(waits, 1)}; CPU ms server ${costs.serverCpuMs}, agent ${costs.ownCpuMs}`,
  );
  const load = await measured(layout.load);
  console.log(`  read again: ${load.result} in ${load.ms} ms, ${load.requests} requests`);
}

async function fillLarge(layout) {
  const store = await layout.open();
  const records = Array.from({ length: LARGE }, (_, client) => recordOf(client));
  const fill = await measured(() => layout.fill(store, records));
  console.log(
    `${layout.name}: ${LARGE} written at once in ${fill.ms} ms, ${fill.requests} requests, ${fill.kib} KiB; CPU ms server ${fill.serverCpuMs}, agent ${fill.ownCpuMs}`,
  );
  const load = await measured(layout.load);
  console.log(
    `  read: ${load.result} in ${load.ms} ms, ${load.requests} requests, CPU ms server ${load.serverCpuMs}, agent ${load.ownCpuMs}`,
  );
}

try {
  const heads = [8, 16, 64].map((kib) => kib << 10);
  if (values.only !== 'large') for (const layout of [...heads.map(slicesLayout), objectsLayout()]) await arrive(layout);
  if (values.only !== 'arriving') for (const layout of [slicesLayout(16 << 10), objectsLayout()]) await fillLarge(layout);
} finally {
  simulator.kill();
}
process.exit(0);
