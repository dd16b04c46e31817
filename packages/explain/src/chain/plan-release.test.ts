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

describe('releasing the addresses of a virtual machine', () => {
  it.each([
    ['it exists', { ...GONE, virtualMachine: found(machine()) }],
    ['its instance is there', { ...GONE, instance: found(instance()) }],
    ['whether it exists cannot be read', { ...GONE, virtualMachine: REFUSED }],
    ['whether its instance runs cannot be read', { ...GONE, instance: REFUSED }],
  ])('is refused while %s', (_, objects) => {
    expect(planMachineRelease('default/web', objects).kind).toBe('refused');
  });

  it('deletes the object that outlives it', () => {
    expect(planMachineRelease('default/web', GONE)).toMatchObject({
      kind: 'delete-config',
      object: { metadata: { name: 'web' } },
    });
    expect(planMachineRelease('default/web', { ...GONE, networkConfig: MISSING }).kind).toBe('nothing');
  });
});

describe('releasing one address', () => {
  it('removes the entry of the status if it is quarantined or cannot be read', () => {
    expect(planAddressRelease(record('quarantined'), undefined)).toMatchObject({
      kind: 'patch-status',
      pool: POOL,
      patch: { status: { ipv4: { quarantined: { '10.1.0.10': null } } } },
    });
    expect(planAddressRelease(record('unreadable'), undefined)).toMatchObject({
      patch: { status: { ipv4: { allocated: { '10.1.0.10': null } } } },
    });
  });

  it('is the same as releasing its virtual machine, if one has it', () => {
    const owner = { key: 'default/web', objects: GONE, rivals: [] };
    expect(planAddressRelease(record('assigned'), owner).kind).toBe('delete-config');
    const there = { ...GONE, virtualMachine: found(machine()) };
    expect(planAddressRelease(record('assigned'), { ...owner, objects: there }).kind).toBe('refused');
  });

  it('is refused with the names of the candidates if several virtual machines may have it', () => {
    const owner = { key: 'default/web', objects: GONE, rivals: ['default/copy'] };
    const message = expect.stringContaining('none of their statuses names the address: default/web, default/copy');
    expect(planAddressRelease(record('assigned'), owner)).toEqual({ kind: 'refused', message });
  });

  it.each([
    ['assigned', 'refused'],
    ['reserved', 'refused'],
    ['excluded', 'refused'],
    ['unavailable', 'refused'],
    ['free', 'nothing'],
    ['outside-range', 'nothing'],
  ] as const)('%s, which no virtual machine claims: %s', (state, kind) => {
    expect(planAddressRelease(record(state), undefined).kind).toBe(kind);
  });
});
