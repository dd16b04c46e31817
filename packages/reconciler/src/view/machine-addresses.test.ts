import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, keyOf } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instance, virtualMachine } from '../fixtures/object-fixtures.js';
import { formatMemory, memoryRecordName } from '../virtual-machine/memory-record.js';
import { readRunningInstance } from '../virtual-machine/running-instance.js';
import { ClusterView } from './cluster-view.js';
import { MacAddressMemory } from './mac-address-memory.js';
import { MachineAddresses } from './machine-addresses.js';

const mac = (octet: number) => parseMacAddress(`02:00:00:00:00:0${octet}`) as MacAddress;
const [A, B, C] = [mac(1), mac(2), mac(3)];

function machine(name: string, ...macAddresses: readonly (string | undefined)[]): KubernetesObject {
  const entries = macAddresses.map((one, index) => [`nic${index}`, [one, 'net-1']] as const);
  const made = virtualMachine(name, { interfaces: Object.fromEntries(entries) });
  return { ...made, metadata: { ...made.metadata, uid: `uid-${name}` } };
}

function labelled(object: KubernetesObject, labels: Readonly<Record<string, string>>): KubernetesObject {
  return { ...object, metadata: { ...object.metadata, labels } };
}

/** What is in a cluster, each change noted as the controller notes it. */
function noting() {
  const objects = {
    virtualMachines: new Map<string, KubernetesObject>(),
    networkConfigs: new Map<string, KubernetesObject>(),
    configMaps: new Map<string, KubernetesObject>(),
    instances: new Map<string, KubernetesObject>(),
  };
  const view = new ClusterView({
    ...objects,
    networks: new Map(),
    ipPools: new Map(),
    instances: {
      of: (owner) => readRunningInstance(owner, objects.instances.get(keyOf(owner))),
      isAbsent: (key) => !objects.instances.has(key),
    },
  });
  const memory = new MacAddressMemory({
    recordedInterfaces: (key) => view.recordedInterfaces(key),
    onRead: (key) => addresses.note(key),
    onUnwritten: () => undefined,
  });
  const addresses = new MachineAddresses({
    virtualMachines: objects.virtualMachines,
    knowledgeOf: (virtualMachine) => view.knowledgeOf(virtualMachine),
    memory,
  });
  const changed: string[] = [];
  addresses.onChange((key) => changed.push(key));
  const note = (kind: keyof typeof objects, key: string) => {
    if (kind === 'configMaps') {
      const object = objects.configMaps.get(key);
      memory.readRecord(object?.metadata.name ?? '', object, true);
      return;
    }
    if (kind === 'networkConfigs') view.noteNetworkConfig(key);
    else view.noteVirtualMachine(key);
    addresses.note(key);
  };
  const put = (kind: keyof typeof objects, object: KubernetesObject) => {
    objects[kind].set(keyOf(object), object);
    note(kind, keyOf(object));
  };
  const remove = (kind: keyof typeof objects, key: string) => {
    objects[kind].delete(key);
    note(kind, key);
  };
  const news = () => changed.splice(0);
  return { addresses, view, put, remove, news };
}

describe('who has which MAC address', () => {
  it('a story: machines appear, change and disappear, and two of them have one address', () => {
    const { addresses, put, remove, news } = noting();
    put('virtualMachines', machine('vm-a', A, B));
    put('virtualMachines', machine('vm-b', B));
    expect(addresses.get('default/vm-a')).toEqual({
      namespace: 'default',
      name: 'vm-a',
      uid: 'uid-vm-a',
      labels: {},
      macAddresses: [A, B],
    });
    expect([addresses.machinesWith(A), addresses.machinesWith(B)]).toEqual([['default/vm-a'], ['default/vm-a', 'default/vm-b']]);
    expect(news()).toEqual(['default/vm-a', 'default/vm-b']);
    remove('virtualMachines', 'default/vm-a');
    expect([addresses.machinesWith(B), addresses.get('default/vm-a'), addresses.size]).toEqual([['default/vm-b'], undefined, 1]);
    expect([...addresses.machines()].map(({ name }) => name)).toEqual(['vm-b']);
    expect(news()).toEqual(['default/vm-a']);
  });

  it('a machine without a known address is included: a config may map an address to it', () => {
    const { addresses, put } = noting();
    put('virtualMachines', machine('vm-a', undefined));
    expect(addresses.get('default/vm-a')?.macAddresses).toEqual([]);
  });

  it('notifies of addresses and labels, and of nothing else', () => {
    const { addresses, put, news } = noting();
    const [first, second] = [machine('vm-a', A), machine('vm-a', A, B)];
    put('virtualMachines', first);
    const known = addresses.get('default/vm-a');
    put('virtualMachines', { ...first, status: { printableStatus: 'Running' } });
    expect([news(), addresses.get('default/vm-a') === known]).toEqual([['default/vm-a'], true]);
    put('virtualMachines', labelled(first, { wake: 'yes' }));
    put('virtualMachines', labelled(first, { wake: 'no' }));
    put('virtualMachines', labelled(second, { wake: 'no' }));
    put('virtualMachines', labelled(second, { wake: 'no' }));
    expect(news()).toEqual(['default/vm-a', 'default/vm-a', 'default/vm-a']);
  });

  it('uses the addresses of the instance while the machine runs; a removed listener is not called again', () => {
    const { addresses, put, remove } = noting();
    const learned: string[] = [];
    const end = addresses.onChange((key) => learned.push(key));
    put('virtualMachines', machine('vm-a', A));
    put('instances', instance('vm-a', { interfaces: { nic0: ['net-1', B, C] } }));
    expect(addresses.get('default/vm-a')?.macAddresses).toEqual([C]);
    end();
    remove('instances', 'default/vm-a');
    expect([addresses.get('default/vm-a')?.macAddresses, learned.length]).toEqual([[A], 2]);
  });

  it('is complete once everything is listed, and has processed everything by then', () => {
    const virtualMachines = new Map([['default/vm-a', machine('vm-a', A)]]);
    const addresses = new MachineAddresses({ virtualMachines, knowledgeOf: () => ({}) });
    const learned: string[] = [];
    addresses.onChange((key) => learned.push(key));
    addresses.onSynced(() => learned.push(`synced: ${addresses.synced}`));
    addresses.onSynced(() => learned.push('not awaited any more'))();
    addresses.complete();
    addresses.complete();
    expect(learned).toEqual(['default/vm-a', 'synced: true']);
    addresses.onSynced(() => learned.push('at once'));
    expect(learned.at(-1)).toBe('at once');
  });
});

describe('laws', () => {
  const address = fc.option(fc.constantFrom<string>(A, B, C), { nil: undefined });
  const name = fc.constantFrom('vm-a', 'vm-b', 'vm-c');
  const ofMachine = fc.record({ name, macAddresses: fc.array(address, { maxLength: 2 }) });
  const ofInstance = fc.record({ name, asked: address, reported: address });
  const ofMemory = fc.record({ name, remembered: fc.constantFrom<MacAddress>(A, B, C), isOfAnother: fc.boolean() });
  const ofConfig = fc.record({ name, remembered: fc.constantFrom<string>(A, B, C) });

  const objectsOf = fc
    .record({
      machines: fc.uniqueArray(ofMachine, { selector: (one) => one.name }),
      instances: fc.uniqueArray(ofInstance, { selector: (one) => one.name }),
      configs: fc.uniqueArray(ofConfig, { selector: (one) => one.name }),
      memories: fc.uniqueArray(ofMemory, { selector: (one) => one.name }),
    })
    .map(({ machines, instances, configs, memories }) => [
      ...[...Map.groupBy(memories, (one) => memoryRecordName(`default/${one.name}`))].map(([configMap, entries]) => {
        const data = Object.fromEntries(
          entries.map((one) => {
            const uid = one.isOfAnother ? 'uid-other' : `uid-${one.name}`;
            return [`default.${one.name}`, formatMemory({ uid, macAddresses: new Map([['nic0', one.remembered]]) })];
          }),
        );
        const object = { metadata: { namespace: 'system', name: configMap }, data } as unknown as KubernetesObject;
        return ['configMaps', object] as const;
      }),
      ...machines.map((one) => ['virtualMachines', machine(one.name, ...one.macAddresses)] as const),
      ...instances.map(
        (one) => ['instances', instance(one.name, { interfaces: { nic0: ['net-1', one.asked, one.reported] } })] as const,
      ),
      ...configs.map((one) => {
        const value = JSON.stringify({ nic0: { networkName: 'default/net-1', macAddress: one.remembered } });
        const metadata = { namespace: 'default', name: one.name, annotations: { [INTERFACES_ANNOTATION]: value } };
        return ['networkConfigs', { metadata }] as const;
      }),
    ]);

  const described = ({ addresses }: ReturnType<typeof noting>) => ({
    machines: [...addresses.machines()].toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    owners: [A, B, C].map((one) => addresses.machinesWith(one)),
  });

  it('the order in which objects become known does not matter', () => {
    fc.assert(
      fc.property(
        objectsOf.chain((objects) =>
          fc.tuple(
            fc.constant(objects),
            fc.shuffledSubarray(objects, { minLength: objects.length }),
            fc.array(fc.nat({ max: 8 })),
          ),
        ),
        ([objects, shuffled, again]) => {
          const [one, other] = [noting(), noting()];
          for (const [kind, object] of objects) one.put(kind, object);
          const repeated = again.flatMap((index) => shuffled.slice(index, index + 1));
          for (const [kind, object] of [...shuffled, ...repeated]) other.put(kind, object);
          expect(described(other)).toEqual(described(one));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('after any changes, each machine is found by each of its addresses, and by no other', () => {
    fc.assert(
      fc.property(fc.array(objectsOf, { maxLength: 4 }), fc.array(name), (rounds, removed) => {
        const cluster = noting();
        for (const objects of rounds) {
          for (const [kind, object] of objects) cluster.put(kind, object);
          for (const one of removed) cluster.remove('virtualMachines', `default/${one}`);
        }
        const { machines, owners } = described(cluster);
        const expected = [A, B, C].map((one) =>
          machines.filter(({ macAddresses }) => macAddresses.includes(one)).map((two) => `default/${two.name}`),
        );
        expect(owners).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });
});
