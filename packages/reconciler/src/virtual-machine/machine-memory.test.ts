import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { MAC_ADDRESS_ANNOTATION } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import type { InterfaceKnowledge } from './machine-interfaces.js';
import { type MachineMemory, MOST_REMEMBERED, rememberMachine } from './machine-memory.js';
import { readRunningInstance } from './running-instance.js';

const mac = (text: string) => parseMacAddress(text) as MacAddress;
const [CHOSEN, OTHER] = [mac('02:00:00:00:00:01'), mac('02:00:00:00:00:02')];

/** Interface name to MAC address; null: none of its own. All are on the pod network, but `nic`. */
type Interfaces = Readonly<Record<string, string | null>>;

function shapeOf(interfaces: Interfaces) {
  const entries = Object.entries(interfaces);
  return {
    domain: { devices: { interfaces: entries.map(([name, own]) => ({ name, ...(own !== null && { macAddress: own }) })) } },
    networks: entries.map(([name]) => ({ name, ...(name === 'nic' ? { multus: { networkName: 'net-1' } } : { pod: {} }) })),
  };
}

function machine(interfaces: Interfaces, metadata: Partial<KubernetesObject['metadata']> = {}): KubernetesObject {
  const spec = { template: { spec: shapeOf(interfaces) } };
  return { metadata: { namespace: 'lab', name: 'web', uid: 'uid-1', ...metadata }, spec };
}

function running(reported: Readonly<Record<string, string>>, infoSource = 'domain'): InterfaceKnowledge {
  const names = Object.fromEntries(Object.keys(reported).map((name) => [name, null]));
  const interfaces = Object.entries(reported).map(([name, one]) => ({ name, mac: one, infoSource }));
  const object = { metadata: { namespace: 'lab', name: 'web' }, spec: shapeOf(names), status: { interfaces } };
  return { instance: readRunningInstance(machine({}), object) };
}

const memoryOf = (macAddresses: Readonly<Record<string, MacAddress>>, uid = 'uid-1'): MachineMemory => ({
  uid,
  macAddresses: new Map(Object.entries(macAddresses)),
});
const BEFORE = memoryOf({ default: CHOSEN });
const NIC = new Map([['nic', { networkName: 'lab/net-1', macAddress: OTHER, replaces: [] }]]);

describe('the memory of a machine', () => {
  it.each<[string, KubernetesObject, MachineMemory | undefined, InterfaceKnowledge, MachineMemory | undefined]>([
    ['what KubeVirt chose', machine({ default: null }), undefined, running({ default: CHOSEN }), BEFORE],
    ['what it chose last', machine({ default: null }), BEFORE, running({ default: OTHER }), memoryOf({ default: OTHER })],
    ['it while it is stopped', machine({ default: null }), BEFORE, {}, BEFORE],
    ['it until a new instance reports its own', machine({ default: null }), BEFORE, running({}), BEFORE],
    ['it as long as its instance is not seen', machine({ default: OTHER }), BEFORE, { instance: 'unseen' }, BEFORE],
    ['the interface that KubeVirt adds to a template without one', machine({}), undefined, running({ default: CHOSEN }), BEFORE],
    [
      'nothing that the guest operating system claims',
      machine({ default: null }),
      undefined,
      running({ default: CHOSEN }, 'guest-agent'),
      undefined,
    ],
    ['nothing that its template has', machine({ default: OTHER }), BEFORE, running({ default: CHOSEN }), undefined],
    ['no interface that its template has no more', machine({ other: null }), BEFORE, {}, undefined],
    ['nothing of another machine of its name', machine({ default: null }, { uid: 'uid-2' }), BEFORE, {}, undefined],
    [
      'nothing that its config has recorded',
      machine({ nic: null }),
      memoryOf({ nic: CHOSEN }),
      { ...running({ nic: OTHER }), remembered: NIC },
      undefined,
    ],
    [
      'an interface on a Multus network that its config has not',
      machine({ nic: null }),
      undefined,
      running({ nic: OTHER }),
      memoryOf({ nic: OTHER }),
    ],
    ['no group address', machine({ default: null }), undefined, running({ default: 'ff:ff:ff:ff:ff:ff' }), undefined],
    ['nothing of an object without a UID', { metadata: { name: 'web' } }, BEFORE, running({ default: CHOSEN }), undefined],
  ])('%s', (_, object, former, knowledge, expected) => {
    expect(rememberMachine(object, former, knowledge)).toEqual(expected);
  });

  it("excludes everything that Harvester's annotation has", () => {
    const annotations = { [MAC_ADDRESS_ANNOTATION]: JSON.stringify({ default: OTHER }) };
    expect(rememberMachine(machine({ default: null }, { annotations }), BEFORE, running({ default: CHOSEN }))).toBeUndefined();
  });

  it('is the same object as long as it is equal', () => {
    expect(rememberMachine(machine({ default: null }), BEFORE, running({ default: CHOSEN }))).toBe(BEFORE);
  });

  it('is bounded', () => {
    const names = Array.from({ length: MOST_REMEMBERED + 5 }, (_, index) => `nic${index}`);
    const object = machine(Object.fromEntries(names.map((name) => [name, null])));
    const reported = running(Object.fromEntries(names.map((name) => [name, CHOSEN])));
    expect(rememberMachine(object, undefined, reported)?.macAddresses.size).toBe(MOST_REMEMBERED);
  });
});
