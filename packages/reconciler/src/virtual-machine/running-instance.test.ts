import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instance } from '../fixtures/object-fixtures.js';
import { hasSameInterfaces, hasUnseenInstance, projectInstance, readRunningInstance } from './running-instance.js';

const MAC = '02:00:00:00:00:0a';
const machine: KubernetesObject = { metadata: { namespace: 'default', name: 'vm-a', uid: 'uid-a' } };

describe('projectInstance', () => {
  it('keeps the relevant fields of a VirtualMachineInstance, and nothing that makes it large', () => {
    const small = instance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] }, ownerUid: 'uid-a' });
    const large: KubernetesObject = {
      ...small,
      metadata: { ...small.metadata, annotations: { large: 'x'.repeat(50_000) }, resourceVersion: '7' },
      spec: { ...(small.spec as object), volumes: ['x'.repeat(50_000)] },
      status: { ...(small.status as object), guestOSInfo: 'x'.repeat(50_000), conditions: ['x'.repeat(50_000)] },
    };
    const projected = projectInstance(large);
    expect(JSON.stringify(projected).length).toBeLessThan(700);
    expect(projected.metadata.resourceVersion).toBe('7');
    expect(hasSameInterfaces(projected, projectInstance(small))).toBe(true);
    expect(readRunningInstance(machine, projected)).toEqual(readRunningInstance(machine, projectInstance(small)));
  });

  it('keeps since when it runs, and no other phase', () => {
    const since = (phase: string, time: string) => ({ phase, phaseTransitionTimestamp: time, more: 'x' });
    const phaseTransitionTimestamps = [since('Scheduled', '2026-01-01T00:00:00Z'), since('Running', '2026-01-01T00:00:07Z')];
    const small = instance('vm-a', { ownerUid: 'uid-a' });
    const projected = projectInstance({ ...small, status: { ...(small.status as object), phaseTransitionTimestamps } });
    expect(projected.status).toMatchObject({
      phaseTransitionTimestamps: [{ phase: 'Running', phaseTransitionTimestamp: '2026-01-01T00:00:07Z' }],
    });
    expect(readRunningInstance(machine, projected)?.runningSince).toBe('2026-01-01T00:00:07Z');
    expect(readRunningInstance(machine, projectInstance(small))?.runningSince).toBeUndefined();
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'Paused', status: 'True', reason: 'PausedByUser' },
    ];
    const paused = projectInstance({ ...small, status: { ...(small.status as object), phaseTransitionTimestamps, conditions } });
    expect(paused.status).toMatchObject({ conditions: [{ type: 'Paused', status: 'True' }] });
    expect(readRunningInstance(machine, paused)?.runningSince).toBeUndefined();
  });

  it('keeps names, identity, owners and the interfaces with a name', () => {
    const metadata = {
      name: 'vm-a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '7',
      deletionTimestamp: '2026-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'vm-a', uid: 'uid-a' }],
    };
    const devices = {
      interfaces: [{ name: 'nic', macAddress: MAC, bridge: {} }, { name: 'other' }, { macAddress: MAC }],
      disks: [],
    };
    const networks = [{ name: 'nic', multus: { networkName: 'net-1', default: true } }, { name: 'other', pod: {} }, { pod: {} }];
    const reported = [{ name: 'nic', mac: MAC, infoSource: 'domain', ipAddress: '10.0.0.9' }, { mac: MAC }];
    expect(
      projectInstance({
        apiVersion: 'kubevirt.io/v1',
        kind: 'VirtualMachineInstance',
        metadata: { ...metadata, labels: { a: 'b' } },
        spec: { domain: { devices }, networks, volumes: [] },
        status: { phase: 'Running', interfaces: reported, nodeName: 'node' },
      }),
    ).toStrictEqual({
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstance',
      metadata,
      spec: {
        domain: { devices: { interfaces: [{ name: 'nic', macAddress: MAC }, { name: 'other' }] } },
        networks: [{ name: 'nic', multus: { networkName: 'net-1' } }, { name: 'other' }],
      },
      status: { phase: 'Running', interfaces: [{ name: 'nic', mac: MAC, infoSource: 'domain' }] },
    });
  });

  it('adds nothing to an object that has only a name', () => {
    const projected = { metadata: { name: 'vm-a' }, status: { interfaces: [] } };
    expect(projectInstance({ metadata: { name: 'vm-a' } })).toStrictEqual(projected);
    expect(projectInstance({ metadata: { name: 'vm-a' }, spec: { domain: 'x' } })).toStrictEqual(projected);
  });

  it('reads any object without throwing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (spec, status, ownerReferences) => {
        const metadata = { name: 'vm-a', ownerReferences } as unknown as KubernetesObject['metadata'];
        for (const given of [spec, { domain: { devices: { interfaces: spec } }, networks: status }] as unknown[]) {
          const projected = projectInstance({ metadata, spec: given, status: { interfaces: status } as unknown });
          readRunningInstance(machine, projected);
          expect(projectInstance(projected)).toEqual(projected);
        }
      }),
    );
  });
});

describe('readRunningInstance', () => {
  it.each<[string, KubernetesObject | undefined, boolean]>([
    ['none', undefined, false],
    ['one that runs', instance('vm-a'), true],
    ['one that is on its way', instance('vm-a', { phase: 'Scheduling' }), true],
    ['one that has ended well', instance('vm-a', { phase: 'Succeeded' }), false],
    ['one that has failed', instance('vm-a', { phase: 'Failed' }), false],
    ['one that is its own', instance('vm-a', { ownerUid: 'uid-a' }), true],
    ['one of another virtual machine of that name', instance('vm-a', { ownerUid: 'uid-b' }), false],
    ['one without a domain', projectInstance({ metadata: { name: 'vm-a' }, spec: {} }), false],
  ])('%s', (_, instance, runs) => {
    expect(readRunningInstance(machine, instance) !== undefined).toBe(runs);
  });

  it('an instance with another owner belongs to no virtual machine', () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Other', name: 'x', uid: 'x' }];
    const one = instance('vm-a');
    expect(readRunningInstance(machine, { ...one, metadata: { ...one.metadata, ownerReferences } })).toBeDefined();
  });

  it('a MAC address comes from the hypervisor, otherwise from the spec, and never from a guest agent', () => {
    const names = ['asked', 'reported', 'both', 'agent', 'none', 'wrong'];
    const B = '02:00:00:00:00:0b';
    const one = {
      metadata: { name: 'vm-a' },
      spec: {
        domain: {
          devices: {
            interfaces: [
              { name: 'asked', macAddress: MAC.toUpperCase() },
              { name: 'reported' },
              { name: 'both', macAddress: MAC },
              { name: 'agent', macAddress: MAC },
              { name: 'none' },
              { name: 'wrong', macAddress: 'x' },
              { macAddress: MAC },
            ],
          },
        },
      },
      status: {
        interfaces: [
          { name: 'reported', mac: B, infoSource: 'domain, guest-agent' },
          { name: 'both', mac: B },
          { name: 'agent', mac: B, infoSource: 'guest-agent' },
          { name: 'wrong', mac: 'x' },
        ],
      },
    };
    const read = readRunningInstance(machine, one);
    expect(read?.spec).toBe(one.spec);
    expect(names.map((name) => read?.macAddresses.get(name))).toEqual([MAC, B, B, MAC, undefined, undefined]);
    expect(read?.macAddresses.size).toBe(4);
  });

  it('an instance that is being deleted runs until it has ended', () => {
    const one = instance('vm-a');
    const deleted = { ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(readRunningInstance(machine, deleted)).toBeDefined();
  });
});

describe('hasUnseenInstance', () => {
  it.each<[string, Record<string, unknown> | undefined, KubernetesObject | undefined, boolean]>([
    ['no status, no instance', undefined, undefined, false],
    ['created, no instance', { created: true, printableStatus: 'Starting' }, undefined, true],
    ['created, reported as stopped, no instance', { created: true, printableStatus: 'Stopped' }, undefined, true],
    ['not created, an ended instance', { created: false }, instance('vm-a', { phase: 'Succeeded' }), false],
    [
      'stopped, an ended instance',
      { created: true, printableStatus: 'Stopped' },
      instance('vm-a', { phase: 'Succeeded' }),
      false,
    ],
    ['crashed', { created: true, printableStatus: 'CrashLoopBackOff' }, instance('vm-a', { phase: 'Failed' }), false],
    ['running, an ended instance', { created: true, printableStatus: 'Running' }, instance('vm-a', { phase: 'Failed' }), true],
    ['of a KubeVirt without printableStatus', { created: true }, instance('vm-a', { phase: 'Failed' }), true],
  ])('%s', (_, status, instance, isUnseen) => {
    expect(hasUnseenInstance({ ...machine, ...(status && { status }) }, instance)).toBe(isUnseen);
  });
});

describe('hasSameInterfaces', () => {
  const one = instance('vm-a', { interfaces: { nic: ['net-1', MAC, MAC] }, ownerUid: 'uid-a' });
  const reported = (more: object) => ({
    phase: 'Running',
    interfaces: [{ name: 'nic', mac: MAC, infoSource: 'domain', ...more }],
  });

  it.each<[what: string, other: object, isSame: boolean]>([
    ['the same', {}, true],
    ['another version', { metadata: { ...one.metadata, resourceVersion: '8' } }, true],
    ['another phase in which it runs', { status: { ...reported({}), phase: 'Scheduled' } }, true],
    ['another source beside a guest agent', { status: reported({ infoSource: 'domain, guest-agent' }) }, true],
    ['another instance', { metadata: { ...one.metadata, uid: 'other' } }, false],
    ['another owner', { metadata: { ...one.metadata, ownerReferences: [] } }, false],
    ['another spec', { spec: {} }, false],
    ['it has ended', { status: { ...reported({}), phase: 'Succeeded' } }, false],
    ['another name', { status: reported({ name: 'other' }) }, false],
    ['another MAC address', { status: reported({ mac: '02:00:00:00:00:0b' }) }, false],
    ['a guest agent as the source', { status: reported({ infoSource: 'guest-agent' }) }, false],
  ])('%s', (_, other, isSame) => {
    expect(hasSameInterfaces(one, { ...one, ...other })).toBe(isSame);
  });
});
