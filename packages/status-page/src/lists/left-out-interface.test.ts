import { explainAddress, poolsByNetwork } from '@vmdhcp/explain';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import { planNetworkConfig } from '@vmdhcp/reconciler/readers';
import { expect, it } from 'vitest';
import { SECTIONS } from '../model/page-data.js';
import { ipPool } from '../pool/pool-object-fixtures.js';
import { toAttention } from './attention.js';
import { MachinesWithoutAddress } from './machines-without-address.js';
import { observeMachine } from './observe-machine.js';
import { toVerdict } from './verdict.js';

const NETWORK = { metadata: { namespace: 'default', name: 'net-1' }, spec: {} } as unknown as KubernetesObject;
const mac = (number: number) => `02:00:00:00:00:0${number}`;

interface Interface {
  readonly name: string;
  readonly macAddress?: string;
}

function machine(interfaces: readonly Interface[]): KubernetesObject {
  const networks = interfaces.map(({ name }) => ({ name, multus: { networkName: 'default/net-1' } }));
  const template = { spec: { domain: { devices: { interfaces: interfaces.map((one) => ({ ...one, bridge: {} })) } }, networks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'web', uid: 'web' },
    spec: { template },
  } as unknown as KubernetesObject;
}

/** What the controller writes of these interfaces: each has an address. */
function config(served: readonly string[]): KubernetesObject {
  const entries = served.map((macAddress) => ({ networkName: 'default/net-1', macAddress }));
  const given = entries.map((entry, index) => ({ ...entry, state: 'Allocated', allocatedIPAddress: `10.0.0.${index + 4}` }));
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name: 'web' },
    spec: { vmName: 'web', networkConfigs: entries },
    status: { networkConfigs: given, conditions: [{ type: 'Allocated', status: 'True' }] },
  } as unknown as KubernetesObject;
}

const FIVE = [1, 2, 3, 4, 5].map((number) => ({ name: `nic-${number}`, macAddress: mac(number) }));
const FOUR = [1, 2, 3, 4].map(mac);

it.each([
  ['a fifth interface', FIVE, FOUR, 'TooManyInterfaces', 'broken'],
  [
    'an interface with a wrong MAC address',
    [
      { name: 'nic-1', macAddress: mac(1) },
      { name: 'nic-2', macAddress: '02:00:00:00:00:0g' },
    ],
    [mac(1)],
    'MacAddressUnreadable',
    'broken',
  ],
  [
    'an interface without a MAC address',
    [{ name: 'nic-1', macAddress: mac(1) }, { name: 'nic-2' }],
    [mac(1)],
    'AwaitingMacAddress',
    'waiting',
  ],
] as const)('%s is listed beside interfaces that have addresses', async (_, interfaces, served, reason, state) => {
  const [vm, written] = [machine(interfaces), config(served)];
  // The controller writes this config, with the interfaces that can have an address.
  const networks = { definition: () => NETWORK, isServed: () => true };
  const plan = planNetworkConfig(vm, undefined, { instance: undefined, remembered: new Map(), networks });
  expect(plan).toMatchObject({
    actions: [{ kind: 'create', object: { spec: { networkConfigs: served.map((macAddress) => ({ macAddress })) } } }],
  });
  const objects = (...all: readonly KubernetesObject[]) => {
    const byKey = new Map(all.map((one) => [keyOf(one), one]));
    return { synced: true, get: (key: string) => byKey.get(key), values: () => byKey.values() };
  };
  const allocated = Object.fromEntries(served.map((one, index) => [`10.0.0.${index + 4}`, one]));
  const pool = ipPool({ allocated, conditions: [{ type: 'CacheReady', status: 'True' }] });
  const caches = {
    ...{ virtualMachines: objects(vm), virtualMachineInstances: objects(), networkConfigs: objects(written) },
    ...{ networks: objects(NETWORK), ipPools: objects(pool), leases: objects() },
  };
  const nowMs = Date.parse('2026-01-01T00:10:00Z');
  // `kubectl vmdhcp why` on the same objects.
  const chain = explainAddress(observeMachine(caches, 'default/web', { poolsByNetwork: poolsByNetwork([pool]), nowMs }));
  expect(chain.interfaces.map((one) => one.address === undefined)).toContain(true);
  expect(chain.state).toBe(state);
  const reasons = chain.interfaces.flatMap(({ links }) => links.flatMap(({ findings }) => findings.map((one) => one.reason)));
  expect(reasons).toContain(reason);

  const list = new MachinesWithoutAddress({ caches, wallTimeMs: () => nowMs });
  const machines = await list.page({ limit: 5, offset: 0, sections: new Set(SECTIONS), pause: async () => undefined });
  const shown = { kind: 'shown' } as const;
  const off = { kind: 'off' } as const;
  const sections = { pools: off, machines: shown, agents: off, 'wake-on-lan': off, hosts: off, events: off };
  const seen = { machines };
  expect(
    { ...toAttention(seen), ...toVerdict({ sections, unready: [] }, seen) }.items,
    toVerdict({ sections, unready: [] }, seen).verdict,
  ).toMatchObject([{ name: 'default/web', reason: { reason } }]);
});
