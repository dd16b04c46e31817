import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineMemory } from './machine-memory.js';
import { formatMemory, memoryEntryName, memoryRecordName, memoryRecordNames, readMemoryRecord } from './memory-record.js';
import { planMemoryRecord } from './plan-memory-record.js';

const mac = (text: string) => parseMacAddress(text) as MacAddress;
const MAC = mac('02:00:00:00:00:01');
const WEB = 'lab/web';
const NAME = memoryRecordName(WEB);
const MEMORY: MachineMemory = { uid: 'uid-1', macAddresses: new Map([['default', MAC]]) };
const TEXT = formatMemory(MEMORY);

function configMap(data: unknown, name = NAME): KubernetesObject {
  const metadata = { namespace: 'system', name, labels: { 'network.harvesterhci.io/mac-address-memory': 'true' } };
  return { metadata, data } as unknown as KubernetesObject;
}

function plan(
  machines: ReadonlyMap<string, MachineMemory>,
  observed: KubernetesObject | undefined,
  isSeen: (key: string) => boolean = () => true,
) {
  return planMemoryRecord({ namespace: 'system', name: NAME, machines, isSeen }, observed);
}

function applied(observed: KubernetesObject | undefined, { action }: ReturnType<typeof plan>): KubernetesObject | undefined {
  if (action === undefined) return observed;
  if (action.kind === 'create') return action.object;
  const { data = {} } = action.patch as { data?: Record<string, string | null> };
  const before = (observed as unknown as { data?: Record<string, string> }).data;
  const merged = Object.entries({ ...before, ...data }).filter(([, text]) => text !== null);
  return configMap(Object.fromEntries(merged));
}

describe('the ConfigMaps', () => {
  it('are sixteen, and a machine is always in the same one', () => {
    expect(memoryRecordNames()).toHaveLength(16);
    expect([NAME, memoryRecordName('lab/db')]).toEqual(['vmdhcp-mac-addresses-5', 'vmdhcp-mac-addresses-7']);
    const used = new Set(Array.from({ length: 1_000 }, (_, index) => memoryRecordName(`lab/vm-${index}`)));
    expect([...used].toSorted()).toEqual(memoryRecordNames().toSorted());
  });

  it('have an entry that a person can read', () => {
    expect(configMap({ [memoryEntryName(WEB) ?? '']: TEXT })).toMatchObject({
      data: { 'lab.web': '{"uid":"uid-1","interfaces":{"default":"02:00:00:00:00:01"}}' },
    });
  });

  it.each<[string, unknown, string]>([
    ['no JSON', '{', 'it is not a JSON object with uid and interfaces'],
    ['no text', 7, 'it is not a JSON object with uid and interfaces'],
    ['no UID', '{"interfaces":{"default":"02:00:00:00:00:01"}}', 'it is not a JSON object with uid and interfaces'],
    ['no interface', '{"uid":"u","interfaces":{}}', 'it has not one to 32 interfaces'],
    ['no MAC address', '{"uid":"u","interfaces":{"default":"none"}}', 'interface "default" has no MAC address of a machine'],
    [
      'broadcast',
      '{"uid":"u","interfaces":{"default":"ff:ff:ff:ff:ff:ff"}}',
      'interface "default" has no MAC address of a machine',
    ],
    [
      'no address',
      '{"uid":"u","interfaces":{"default":"00:00:00:00:00:00"}}',
      'interface "default" has no MAC address of a machine',
    ],
  ])('an invalid entry is skipped and reported: %s', (_, text, fault) => {
    const other =
      Array.from({ length: 100 }, (__, index) => `lab/vm-${index}`).find((key) => memoryRecordName(key) === NAME) ?? '';
    const { machines, problems } = readMemoryRecord(configMap({ 'lab.web': text, [memoryEntryName(other) ?? '']: TEXT }));
    expect([...machines]).toEqual([[other, MEMORY]]);
    expect(problems.map(({ message }) => message)).toEqual([
      `ConfigMap ${NAME}, entry "lab.web": ${fault}; it does not count, and the controller removes it`,
    ]);
  });

  it('an entry in the wrong ConfigMap is ignored: a machine has only one', () => {
    const { machines, problems } = readMemoryRecord(configMap({ 'lab.web': TEXT }, 'vmdhcp-mac-addresses-0'));
    expect([machines.size, problems.map(({ entry }) => entry)]).toEqual([0, ['lab.web']]);
  });
});

describe('planMemoryRecord', () => {
  it.each<[string, ReadonlyMap<string, MachineMemory>, KubernetesObject | undefined, unknown]>([
    ['creates nothing for nothing', new Map(), undefined, undefined],
    ['leaves what is right', new Map([[WEB, MEMORY]]), configMap({ 'lab.web': TEXT }), undefined],
    [
      'writes only what changed',
      new Map([[WEB, MEMORY]]),
      configMap({ 'lab.web': TEXT, 'lab.x': '{' }),
      { kind: 'patch', patch: { data: { 'lab.x': null } } },
    ],
    [
      'repairs the label',
      new Map([[WEB, MEMORY]]),
      { metadata: { name: NAME }, data: { 'lab.web': TEXT } } as unknown as KubernetesObject,
      { kind: 'patch', patch: { metadata: { labels: { 'network.harvesterhci.io/mac-address-memory': 'true' } } } },
    ],
  ])('%s', (_, machines, observed, action) => {
    expect(plan(machines, observed)).toEqual({ action, problems: [] });
  });

  it('leaves entries of machines that this controller does not see', () => {
    const isSeen = (key: string) => key.startsWith('red/');
    expect(plan(new Map(), configMap({ 'lab.web': TEXT }), isSeen).action).toBeUndefined();
  });

  it('a full ConfigMap keeps its content, stays below 500 kB, and reports what is omitted', () => {
    const machines = new Map(Array.from({ length: 10_000 }, (_, index) => [`lab/vm-${index}`, MEMORY] as const));
    const late = 'lab/vm-9999';
    const before = configMap({ [memoryEntryName(late) ?? '']: TEXT });
    const first = plan(machines, before);
    const stored = applied(before, first);
    const text = JSON.stringify(stored);
    expect([text.length < 500_000, text.length > 400_000, text.includes('"lab.vm-9999"')]).toEqual([true, true, true]);
    expect(first.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(
        /^virtual machine lab\/vm-\d+: ConfigMap vmdhcp-mac-addresses-5 is full, also for others; its MAC addresses/,
      ),
    ]);
    expect(plan(machines, stored).action).toBeUndefined();
  });

  it('a name that is too long for an entry is reported', () => {
    const key = `lab/${'x'.repeat(253)}`;
    const { action, problems } = plan(new Map([[key, MEMORY]]), undefined);
    expect([action, problems.map(({ message }) => message)]).toEqual([
      undefined,
      [expect.stringContaining('its namespace and name are too long together')],
    ]);
  });
});

describe('laws', () => {
  const address = fc.constantFrom(MAC, mac('02:00:00:00:00:02'));
  const memory = fc
    .dictionary(fc.constantFrom('default', 'nic', '__proto__'), address, { minKeys: 1 })
    .map((macAddresses): MachineMemory => ({ uid: 'u', macAddresses: new Map(Object.entries(macAddresses)) }));
  const keys = Array.from({ length: 200 }, (_, index) => `lab/vm-${index}`).filter((key) => memoryRecordName(key) === NAME);
  const machinesOf = fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), memory), { selector: ([key]) => key })
    .map((entries) => new Map(entries));

  it('what is written is read back, and then there is nothing to do, whatever was there before', () => {
    const before = fc.option(
      fc
        .dictionary(fc.constantFrom('lab.vm-1', 'lab.vm-15', 'x', ''), fc.oneof(fc.constantFrom('{', TEXT), fc.string()))
        .map((data) => configMap(data)),
      { nil: undefined },
    );
    fc.assert(
      fc.property(machinesOf, before, (machines, observed) => {
        const stored = applied(observed, plan(machines, observed));
        const read = readMemoryRecord(stored);
        expect([new Map(read.machines), read.problems]).toEqual([machines, []]);
        expect(plan(machines, stored).action).toBeUndefined();
      }),
    );
  });

  it('reading any ConfigMap never throws, and each entry is valid or a problem', () => {
    const data = fc.oneof(fc.anything(), fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.json(), fc.anything())));
    fc.assert(
      fc.property(data, (one) => {
        const { machines, problems } = readMemoryRecord(configMap(one));
        const isRecord = typeof one === 'object' && one !== null && !Array.isArray(one);
        expect(machines.size + problems.length).toBe(isRecord ? Object.keys(one).length : 0);
      }),
      { numRuns: 500 },
    );
  });
});
