/**
 * A simulated API server that misbehaves: requests lost before and after they took effect, watches dropped, restarts. Always a simulated one,
 * whatever KUBECONFIG names: no other fails on demand.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ipPoolResource, toCustomResourceDefinition, virtualMachineNetworkConfigResource } from '@vmdhcp/ippool-api';
import {
  type ApiResource,
  type KubernetesObject,
  readConditions,
  readField,
  readList,
  readText,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiConnection, ApiObjectClient, systemClock } from '@vmdhcp/kube-runtime/node';
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import { type KubeSimulator, startKubeSimulator } from '@vmdhcp/kube-simulator';
import { cachedParts, DhcpController } from '@vmdhcp/reconciler';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  AdmissionWebhook,
  CLUSTER_EXAMPLES,
  ClusterAccess,
  findAddressFaults,
  findLackingAddresses,
  type KnownAddresses,
  virtualMachineWith,
  waitFor,
} from '../src/index.js';

const STEPS = 12;
const SEEDS = Number(process.env['VMDHCP_FAULT_SEEDS'] ?? 12);

/** The token of a controller that may do everything, but is not an administrator: a server that starts refuses it for a while. */
const CONTROLLER_TOKEN = 'of-the-controller';
const CONTROLLER_RIGHTS = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'controller' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'controller' }],
} as KubernetesObject;

let folder: string;
let simulator: KubeSimulator;
let access: ClusterAccess;
let webhook: AdmissionWebhook | undefined;
let running: { readonly controller: DhcpController; readonly connection: ApiConnection };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-faults-'));
  simulator = await startKubeSimulator({
    tokens: { [CONTROLLER_TOKEN]: { username: 'controller', groups: ['system:authenticated'] } },
  });
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, simulator.kubeconfig(), { mode: 0o600 });
  access = await ClusterAccess.open(kubeconfig);
  await access.create(CONTROLLER_RIGHTS);
  await access.applyFile(join(CLUSTER_EXAMPLES, 'crds.yaml'));
  for (const resource of [ipPoolResource, virtualMachineNetworkConfigResource]) {
    await access.create(toCustomResourceDefinition(resource) as unknown as KubernetesObject);
  }
  await access.applyFile(join(CLUSTER_EXAMPLES, 'pools.yaml'));
  running = startController();
});

afterEach(async () => {
  simulator.faults.clear();
  if (webhook?.process.hasEnded === false) await webhook.kill();
  webhook = undefined;
  await running.controller.stop();
  running.connection.close();
  access.close();
  await simulator.stop();
  rmSync(folder, { recursive: true });
});

function startController(): typeof running {
  const cluster = {
    server: simulator.url,
    tls: { ca: simulator.caCertificate ?? '' },
    authorization: async () => `Bearer ${CONTROLLER_TOKEN}`,
    namespace: 'default',
  };
  const connection = new ApiConnection(cluster, { userAgent: 'vmdhcp-controller', timeoutMs: 3_000 });
  const client = <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) =>
    new ApiObjectClient<Kind>(connection, resource);
  const controller = new DhcpController({
    clientOf: client,
    caches: new SharedCaches({
      open: client,
      clock: systemClock,
      backOff: { firstMs: 100, mostMs: 30_000, random: Math.random },
      trim: cachedParts,
    }),
    clock: systemClock,
    now: () => `${new Date().toISOString().slice(0, 19)}Z`,
    random: Math.random,
    identity: 'controller',
  });
  controller.start();
  controller.lead();
  return { controller, connection };
}

async function startWebhook(): Promise<void> {
  webhook = await AdmissionWebhook.start({ simulator, admin: access, folder });
  await webhook.registered();
}

/** As a process that is killed: nothing under way is waited for. */
function killController(): void {
  running.connection.close();
  void running.controller.stop();
  running = startController();
}

function virtualMachine(index: number, networks: readonly string[]): KubernetesObject {
  const octet = index.toString(16).padStart(2, '0');
  const interfaces = networks.map((network, position) => ({
    name: `nic-${position}`,
    macAddress: `02:00:00:00:0${position}:${octet}`,
    network: `default/${network}`,
  }));
  return virtualMachineWith(`default/vm-${index}`, interfaces);
}

/** One thing that goes wrong. */
async function disturb(random: Random): Promise<void> {
  const times = 1 + random(3);

  switch (random(7)) {
    case 0:
      simulator.faults.inject({ requests: { verb: 'patch' }, effect: { kind: 'close', when: 'before' }, times });
      return;
    case 1:
      simulator.faults.inject({ requests: { verb: 'patch' }, effect: { kind: 'close', when: 'after' }, times });
      return;
    case 2:
      simulator.faults.inject({
        requests: { verb: 'create', resource: 'virtualmachinenetworkconfigs' },
        effect: { kind: 'close', when: 'after' },
        times,
      });
      return;
    case 3:
      simulator.faults.inject({
        requests: { verb: 'patch' },
        effect: { kind: 'answer', status: [409, 500, 429, 503][random(4)] ?? 500 },
        times,
      });
      return;
    case 4:
      simulator.disturbWatches((['break', 'end', 'expire'] as const)[random(3)] ?? 'break');
      return;
    case 5:
      simulator.compact();
      await simulator.restart();
      return;
    default:
      killController();
  }
}

/** No address has two owners, none has changed. */
async function expectSound(known: KnownAddresses): Promise<void> {
  expect(findAddressFaults(await access.list('VirtualMachineNetworkConfig'), known)).toEqual([]);
}

async function expectSettled(): Promise<void> {
  await waitFor(
    'each virtual machine to have its address, and no other one',
    async () => {
      const machines = (await access.list('VirtualMachine')).map(({ metadata }) => metadata.name).toSorted();
      const configs = await access.list('VirtualMachineNetworkConfig');
      if (
        configs
          .map(({ metadata }) => metadata.name)
          .toSorted()
          .join() !== machines.join()
      )
        return false;
      const claimed = configs.flatMap(({ spec }) =>
        readList(spec, 'networkConfigs').map((entry) => readText(entry, 'macAddress')),
      );
      const pools = await access.list('IPPool');
      const owners = pools.flatMap(({ status }) =>
        Object.values((readField(status, 'ipv4', 'allocated') ?? {}) as Record<string, string>).filter((value) =>
          value.includes(':'),
        ),
      );
      const isDecided = configs.every(({ status }) => readConditions(status).some(({ type }) => type === 'Allocated'));
      const isRight = isDecided && owners.length === new Set(owners).size && owners.every((owner) => claimed.includes(owner));
      return isRight && findLackingAddresses(configs, pools).length === 0;
    },
    60_000,
  );
}

describe(`${SEEDS} seeds of faults over HTTPS, always against a simulated API server`, () => {
  const seeds = Array.from({ length: SEEDS }, (_, seed) => ({ seed, admission: seed % 4 === 0 ? 'with' : 'without' }));

  it.each(seeds)('seed $seed, $admission admission', async ({ seed, admission }) => {
    if (admission === 'with') await startWebhook();
    const random = randomFrom(seed);
    const known: KnownAddresses = new Map();
    for (let step = 0; step < STEPS; step++) {
      if (random(3) > 0) await disturb(random);
      const act = random(3);
      const machines = (await access.list('VirtualMachine').catch(() => [])).map(({ metadata }) => metadata.name);
      const some = machines[random(Math.max(1, machines.length))];
      // What the test itself asks for may be hit by a fault as well: it is tried once, that is all.
      if (act < 2)
        await access.create(virtualMachine(step, random(4) === 0 ? ['vlan-48', 'vlan-49'] : ['vlan-48'])).catch(() => undefined);
      else if (some !== undefined) await access.delete('VirtualMachine', `default/${some}`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, random(60)));
      await expectSound(known).catch((error: unknown) => {
        if (error instanceof Error && error.name === 'AssertionError') throw error;
      });
    }
    simulator.faults.clear();
    // However the story went, one machine at least is there to have an address in the end.
    await access.create(virtualMachine(STEPS, ['vlan-48']));
    await expectSettled();
    await expectSound(known);
    await webhook?.close();
  });
});
