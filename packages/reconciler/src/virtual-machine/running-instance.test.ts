import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instance } from '../fixtures/object-fixtures.js';
import { hasSameInterfaces, hasUnseenInstance, projectInstance, readRunningInstance } from './running-instance.js';

const MAC = '02:00:00:00:00:0a';
const machine: KubernetesObject = { metadata: { namespace: 'default', name: 'vm-a', uid: 'uid-a' } };

describe('projectInstance', () => {
  it('keeps what counts of a VirtualMachineInstance, and nothing of what makes it large', () => {
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

  it('one that is being deleted runs until it has ended', () => {
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
