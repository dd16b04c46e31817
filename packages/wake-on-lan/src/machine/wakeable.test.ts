import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExplicitMapping, type WakeConfig, type WakeMachine, wakeConfigProblems } from './wake-config.js';
import { type WakeIndex, wakeable } from './wakeable.js';

const mac = (last: number) => `02:00:00:00:00:0${last}`;
const machine = (name: string, last: number, labels: Record<string, string> = {}): WakeMachine => {
  const [namespace = '', vm = ''] = name.split('/');
  return { namespace, name: vm, labels, macAddresses: [mac(last)] };
};
const all = (name: string, ...namespaces: string[]): WakeConfig => ({ name, namespaces, mode: 'All' });
const labelled = (name: string, labels: Record<string, string>, ...namespaces: string[]): WakeConfig => ({
  ...{ name, namespaces, mode: 'LabelSelector' },
  selector: { matchLabels: labels },
});
const explicit = (name: string, mappings: readonly ExplicitMapping[], ...namespaces: string[]): WakeConfig => ({
  ...{ name, namespaces, mode: 'Explicit' },
  mappings,
});
const mapping = (name: string, macAddress: string): ExplicitMapping => {
  const [namespace = '', vm = ''] = name.split('/');
  return { macAddress, namespace, name: vm };
};

const MACHINES = [
  machine('lab/vm-a', 1, { wake: 'yes' }),
  machine('lab/vm-b', 2),
  machine('prod/vm-c', 3, { wake: 'yes' }),
  machine('prod/vm-d', 4),
];
/** What an address wakes, as text. */
function woken(index: WakeIndex, macAddress: string): string {
  const target = index.find(macAddress);
  switch (target.kind) {
    case 'machine':
      return `${target.machine.namespace}/${target.machine.name} (${target.configs.join(', ')})`;
    case 'ambiguous':
      return `ambiguous: ${target.machines.map(({ machine: one }) => `${one.namespace}/${one.name}`).join(', ')}`;
    case 'not-allowed':
      return 'not allowed';
  }
}
const wokenOf = (configs: readonly WakeConfig[]) => [1, 2, 3, 4].map((last) => woken(wakeable(configs, MACHINES), mac(last)));

describe('wakeable', () => {
  it('without a configuration no machine may be woken', () => {
    expect(wokenOf([])).toEqual(Array(4).fill('not allowed'));
  });

  it('All: every machine, or those of the namespaces', () => {
    expect(wokenOf([all('x')])).toEqual(['lab/vm-a (x)', 'lab/vm-b (x)', 'prod/vm-c (x)', 'prod/vm-d (x)']);
    expect(wokenOf([all('x', 'lab')])).toEqual(['lab/vm-a (x)', 'lab/vm-b (x)', 'not allowed', 'not allowed']);
  });

  it('LabelSelector: the machines that it selects, in its namespaces', () => {
    expect(wokenOf([labelled('x', { wake: 'yes' })])).toEqual(['lab/vm-a (x)', 'not allowed', 'prod/vm-c (x)', 'not allowed']);
    expect(wokenOf([labelled('x', { wake: 'yes' }, 'prod')])[0]).toBe('not allowed');
  });

  it('Explicit: the machine of a mapping, by the address of the mapping, in any spelling', () => {
    const config = explicit('x', [mapping('lab/vm-b', '02-00-00-00-00-0F')]);
    expect(wokenOf([config])).toEqual(Array(4).fill('not allowed'));
    expect(woken(wakeable([config], MACHINES), '02:00:00:00:00:0f')).toBe('lab/vm-b (x)');
  });

  it('several: a machine is allowed if one of them allows it, and all that do are named', () => {
    const configs = [labelled('labels', { wake: 'yes' }), all('lab', 'lab'), explicit('one', [mapping('prod/vm-d', mac(4))])];
    expect(wokenOf(configs)).toEqual(['lab/vm-a (lab, labels)', 'lab/vm-b (lab)', 'prod/vm-c (labels)', 'prod/vm-d (one)']);
  });

  it('a mapping outside the namespaces of its configuration allows nothing, and is a problem', () => {
    const config = explicit('x', [mapping('prod/vm-c', mac(3))], 'lab');
    expect(wokenOf([config])).toEqual(Array(4).fill('not allowed'));
    expect(wakeConfigProblems(config)).toEqual([
      'mapping of prod/vm-c: namespace prod is not in namespaceSelectors; add it, or remove the mapping',
    ]);
  });

  it('every problem of a configuration is listed', () => {
    const config = explicit('x', [mapping('lab/vm-a', 'ff:ff:ff:ff:ff:ff'), mapping('prod/vm-c', 'no address')], 'lab');
    expect(wakeConfigProblems(config)).toHaveLength(3);
    expect(wakeConfigProblems(all('x'))).toEqual([]);
    const selector = { matchExpressions: [{ key: 'wake', operator: 'Near' }] };
    expect(wakeConfigProblems({ name: 'x', namespaces: [], mode: 'LabelSelector', selector })).toEqual([
      'operator Near is unknown, so that no machine is selected; use In, NotIn, Exists or DoesNotExist',
    ]);
  });

  it('two machines with one address: none is woken, and both are named; when one is gone, the other one is woken', () => {
    const index = wakeable([all('x')], [...MACHINES, machine('prod/copy', 1)]);
    expect(woken(index, mac(1))).toBe('ambiguous: lab/vm-a, prod/copy');
    expect(index.duplicates()).toEqual([{ macAddress: mac(1), machines: ['lab/vm-a', 'prod/copy'] }]);
    index.delete({ namespace: 'lab', name: 'vm-a' });
    expect(woken(index, mac(1))).toBe('prod/copy (x)');
    expect(index.duplicates()).toEqual([]);
  });

  it('a machine that an administrator mapped to its address is woken by it, whichever machine has a copy of the address', () => {
    const copy = machine('prod/copy', 1);
    const index = wakeable([all('x'), explicit('one', [mapping('lab/vm-a', mac(1))])], [...MACHINES, copy]);
    expect(woken(index, mac(1))).toBe('lab/vm-a (one, x)');
    expect(index.duplicates()).toEqual([]);
    const both = [explicit('one', [mapping('lab/vm-a', mac(1))]), explicit('two', [mapping('prod/copy', mac(1))])];
    expect(woken(wakeable([all('x'), ...both], [...MACHINES, copy]), mac(1))).toBe('ambiguous: lab/vm-a, prod/copy');
  });

  it('an address that a mapping gives to a machine starts no other one while that machine does not exist', () => {
    const configs = [all('x'), explicit('one', [mapping('lab/vm-a', mac(1))])];
    const index = wakeable(configs, [...MACHINES, machine('prod/copy', 1)]);
    index.delete({ namespace: 'lab', name: 'vm-a' });
    expect(woken(index, mac(1))).toBe('not allowed');
    expect([...index.addresses()]).not.toContain(mac(1));
    index.set(machine('lab/vm-a', 1));
    expect(woken(index, mac(1))).toBe('lab/vm-a (one, x)');
    const outside = wakeable([all('x'), explicit('one', [mapping('lab/vm-z', mac(1))], 'prod')], MACHINES);
    expect(woken(outside, mac(1)), 'a mapping that allows nothing reserves no address').toBe('lab/vm-a (x)');
  });

  it('a machine that no configuration allows makes no address ambiguous', () => {
    const index = wakeable([all('x', 'lab')], [...MACHINES, machine('prod/copy', 1)]);
    expect(woken(index, mac(1))).toBe('lab/vm-a (x)');
  });

  it('a machine that only configurations with a password allow is woken with one of these passwords, or by a configuration without one', () => {
    const secured = { ...explicit('secured', [mapping('lab/vm-a', mac(1))]), passwordSecret: 'office/password' };
    const open = all('open', 'prod');
    const index = wakeable([secured, open], MACHINES);
    const needed = { kind: 'needs-password', configs: ['secured'] };
    expect(index.findForPacket(mac(1), undefined)).toEqual(needed);
    expect(index.findForPacket(mac(1), 'other/password')).toEqual(needed);
    expect(index.findForPacket(mac(1), 'office/password')).toMatchObject({ kind: 'machine', configs: ['secured'] });
    expect(index.findForPacket(mac(3), undefined)).toMatchObject({ kind: 'machine', configs: ['open'] });
    expect(index.addressesForPacket(undefined).toSorted()).toEqual([mac(3), mac(4)]);
    expect(index.addressesForPacket('office/password').toSorted()).toEqual([mac(1), mac(3), mac(4)]);
    expect([...index.passwords]).toEqual(['office/password']);
    const both = wakeable([secured, open, all('lab', 'lab')], MACHINES);
    expect(both.findForPacket(mac(1), undefined)).toMatchObject({ kind: 'machine', configs: ['lab'] });
  });

  it('a password never decides which machine an address belongs to', () => {
    const secured = { ...all('secured', 'lab'), passwordSecret: 'office/password' };
    const index = wakeable([secured, all('open', 'prod')], [...MACHINES, machine('prod/copy', 1)]);
    for (const checked of [undefined, 'office/password']) expect(index.findForPacket(mac(1), checked).kind).toBe('ambiguous');
    const mapped = { ...explicit('mapped', [mapping('lab/vm-a', mac(1))]), passwordSecret: 'office/password' };
    const copied = wakeable([mapped, all('open', 'prod')], [...MACHINES, machine('prod/copy', 1)]);
    expect(copied.findForPacket(mac(1), undefined)).toEqual({ kind: 'needs-password', configs: ['mapped'] });
  });

  it('mappings of machines that do not exist are listed', () => {
    const config = explicit('x', [mapping('lab/vm-z', mac(9)), mapping('lab/vm-a', mac(1)), mapping('lab/vm-z', mac(8))]);
    expect(wakeable([config], MACHINES).missingMachines(config)).toEqual(['lab/vm-z']);
    expect(wakeable([all('y')], MACHINES).missingMachines(all('y'))).toEqual([]);
  });

  it('addresses that no machine has, and invalid texts, wake nothing', () => {
    const odd = { ...machine('lab/odd', 7), macAddresses: ['01:00:5e:00:00:01', 'odd', '00:00:00:00:00:00'] };
    const index = wakeable([all('x')], [odd]);
    expect(woken(index, '01:00:5e:00:00:01')).toBe('not allowed');
    expect(woken(index, '00:00:00:00:00:00')).toBe('not allowed');
    expect(index.managedBy('x')).toBe(0);
  });
});

const names = fc.constantFrom('lab/vm-a', 'lab/vm-b', 'prod/vm-c', 'prod/vm-d');
const anyMachine = fc
  .tuple(names, fc.nat(4), fc.constantFrom({}, { wake: 'yes' }, { wake: 'no' }))
  .map(([name, last, labels]) => machine(name, last, labels));
const namespaces = fc.subarray(['lab', 'prod']);
const anyConfig = fc
  .tuple(fc.constantFrom('c1', 'c2', 'c3'), namespaces, names, fc.nat(4), fc.nat(2))
  .map(
    ([name, inNamespaces, target, last, mode]): WakeConfig =>
      [
        all(name, ...inNamespaces),
        labelled(name, { wake: 'yes' }, ...inNamespaces),
        explicit(name, [mapping(target, mac(last))], ...inNamespaces),
      ][mode] as WakeConfig,
  );
const anyPassword = fc.constantFrom(undefined, 'one/key', 'other/key');
const withPassword = ([config, passwordSecret]: [WakeConfig, string | undefined]): WakeConfig =>
  passwordSecret === undefined ? config : { ...config, passwordSecret };
const configsWithNames = fc.uniqueArray(anyConfig, { selector: ({ name }) => name, maxLength: 3 });

describe('laws of the index', () => {
  it('the union never exceeds what one configuration alone allows, and is smaller only at addresses of mappings, which belong to the mapped machines', () => {
    fc.assert(
      fc.property(configsWithNames, fc.array(anyMachine, { maxLength: 6 }), (configs, machines) => {
        const unique = [...new Map(machines.map((one) => [`${one.namespace}/${one.name}`, one])).values()];
        for (const last of [0, 1, 2, 3, 4]) {
          const together = allowedBy(wakeable(configs, unique), mac(last));
          const alone = configs.flatMap((config) => allowedBy(wakeable([config], unique), mac(last)));
          const mapped = new Set(alone.filter((entry) => isByMapping(configs, entry)).map(machineOf));
          const isNarrower = mapped.size === 1 || (mapped.size === 0 && configs.some((config) => isMapped(config, mac(last))));
          const wanted = isNarrower ? alone.filter((entry) => mapped.has(machineOf(entry))) : alone;
          expect(together.toSorted()).toEqual(wanted.toSorted());
        }
      }),
    );
  });

  it('a packet wakes exactly what its password allows, and the list of its agent has the same', () => {
    const secured = configsWithNames.chain((configs) =>
      fc.tuple(...configs.map((config) => fc.tuple(fc.constant(config), anyPassword).map(withPassword))),
    );
    fc.assert(
      fc.property(secured, fc.array(anyMachine, { maxLength: 6 }), anyPassword, (configs, machines, checked) => {
        const index = wakeable(configs, machines);
        const counts = (name: string) =>
          configs.some((one) => one.name === name && (one.passwordSecret === undefined || one.passwordSecret === checked));
        const listed = new Set(index.addressesForPacket(checked));
        for (const last of [0, 1, 2, 3, 4]) {
          const [target, found] = [index.find(mac(last)), index.findForPacket(mac(last), checked)];
          expect(listed.has(mac(last))).toBe(found.kind === 'machine' || found.kind === 'ambiguous');
          if (found.kind === 'needs-password') expect(found.configs.some(counts)).toBe(false);
          else expect(found.kind).toBe(target.kind);
          if (found.kind !== 'machine' || target.kind !== 'machine') continue;
          expect(found.machine).toBe(target.machine);
          expect(found.configs).toEqual(target.configs.filter(counts));
          expect(found.configs).not.toEqual([]);
        }
      }),
    );
  });

  it('single changes, in any order, give the same index as all at once', () => {
    const change = fc.tuple(anyMachine, fc.boolean());
    fc.assert(
      fc.property(configsWithNames, fc.array(change, { maxLength: 12, size: 'max' }), (configs, changes) => {
        const index = wakeable(configs, []);
        const present = new Map<string, WakeMachine>();
        for (const [one, isThere] of changes) {
          const key = `${one.namespace}/${one.name}`;
          if (isThere) {
            index.set(one);
            present.set(key, one);
          } else {
            index.delete(one);
            present.delete(key);
          }
        }
        const fresh = wakeable(configs.toReversed(), [...present.values()].toReversed());
        expect(index.duplicates()).toEqual(fresh.duplicates());
        expect([...index.addresses()].toSorted()).toEqual([...fresh.addresses()].toSorted());
        for (const address of index.addresses()) expect(index.find(address).kind).not.toBe('not-allowed');
        for (const last of [0, 1, 2, 3, 4]) expect(index.find(mac(last))).toEqual(fresh.find(mac(last)));
        for (const { name } of configs) expect(index.managedBy(name)).toBe(fresh.managedBy(name));
      }),
    );
  });
});

const machineOf = (entry: string) => entry.split(' ')[0];

function isMapped(config: WakeConfig, macAddress: string): boolean {
  if (config.mode !== 'Explicit' || wakeConfigProblems(config).length > 0) return false;
  return config.mappings.some((one) => one.macAddress === macAddress);
}

function isByMapping(configs: readonly WakeConfig[], entry: string): boolean {
  return configs.some(({ name, mode }) => mode === 'Explicit' && entry.endsWith(` ${name}`));
}

/** `machine config` for each configuration that allows it. */
function allowedBy(index: WakeIndex, macAddress: string): string[] {
  const target = index.find(macAddress);
  const machines = target.kind === 'machine' ? [target] : target.kind === 'ambiguous' ? target.machines : [];
  return machines.flatMap(({ machine: { namespace, name }, configs }) =>
    configs.map((config) => `${namespace}/${name} ${config}`),
  );
}
