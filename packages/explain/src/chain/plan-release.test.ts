import { describe, expect, it } from 'vitest';
import { config, found, instance, MAC, machine, POOL } from './chain-fixtures.js';
import type { Observed } from './chain-observation.js';
import type { ClientRecord } from './client-records.js';
import { planAddressRelease, planMachineRelease } from './plan-release.js';

const MISSING: Observed = { kind: 'missing' };
const REFUSED: Observed = {
  kind: 'refused',
  right: { verb: 'get', resource: 'virtualmachines', group: 'kubevirt.io', namespace: 'default' },
};
const GONE = { virtualMachine: MISSING, instance: MISSING, networkConfig: found(config()) };
const record = (state: ClientRecord['state']): ClientRecord => ({
  pool: POOL,
  network: 'default/net',
  address: '10.1.0.10',
  state,
  macAddress: MAC,
});

describe('the addresses of a virtual machine', () => {
  it.each([
    ['it exists', { ...GONE, virtualMachine: found(machine()) }],
    ['its instance is there', { ...GONE, instance: found(instance()) }],
    ['whether it exists cannot be read', { ...GONE, virtualMachine: REFUSED }],
    ['whether its instance runs cannot be read', { ...GONE, instance: REFUSED }],
  ])('stay while %s', (_, objects) => {
    expect(planMachineRelease('default/web', objects).kind).toBe('refused');
  });

  it('are free by the deletion of what outlives it', () => {
    expect(planMachineRelease('default/web', GONE)).toMatchObject({
      kind: 'delete-config',
      object: { metadata: { name: 'web' } },
    });
    expect(planMachineRelease('default/web', { ...GONE, networkConfig: MISSING }).kind).toBe('nothing');
  });
});

describe('one address', () => {
  it('that is quarantined, or whose entry cannot be read: the entry of the status goes', () => {
    expect(planAddressRelease(record('quarantined'), undefined)).toMatchObject({
      kind: 'patch-status',
      pool: POOL,
      patch: { status: { ipv4: { quarantined: { '10.1.0.10': null } } } },
    });
    expect(planAddressRelease(record('unreadable'), undefined)).toMatchObject({
      patch: { status: { ipv4: { allocated: { '10.1.0.10': null } } } },
    });
  });

  it('of a virtual machine: as the virtual machine is', () => {
    const owner = { key: 'default/web', objects: GONE, rivals: [] };
    expect(planAddressRelease(record('assigned'), owner).kind).toBe('delete-config');
    const there = { ...GONE, virtualMachine: found(machine()) };
    expect(planAddressRelease(record('assigned'), { ...owner, objects: there }).kind).toBe('refused');
  });

  it('that one of several virtual machines has, and it is not known which: refused, with their names', () => {
    const owner = { key: 'default/web', objects: GONE, rivals: ['default/copy'] };
    const message = expect.stringContaining('the status of none has the address: default/web, default/copy');
    expect(planAddressRelease(record('assigned'), owner)).toEqual({ kind: 'refused', message });
  });

  it.each([
    ['assigned', 'refused'],
    ['reserved', 'refused'],
    ['excluded', 'refused'],
    ['unavailable', 'refused'],
    ['free', 'nothing'],
    ['outside-range', 'nothing'],
  ] as const)('%s, that no virtual machine claims: %s', (state, kind) => {
    expect(planAddressRelease(record(state), undefined).kind).toBe(kind);
  });
});
