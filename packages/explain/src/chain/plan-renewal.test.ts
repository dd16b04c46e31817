import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { linkOnCommand, planLinkOff, planLinkOn, reportedLink } from './plan-renewal.js';

const BACK = { name: 'back', bridge: {}, macAddress: '02:00:00:00:00:0b' };

function machine(
  state?: string,
  interfaces: readonly object[] = [{ ...FRONT, ...(state && { state }) }, BACK],
): KubernetesObject {
  const spec = { template: { spec: { domain: { devices: { interfaces } } } } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { namespace: 'default', name: 'web' }, spec };
}

const FRONT = { name: 'front', bridge: {}, model: 'virtio', futureField: { kept: true } };
const RUNNING: KubernetesObject = {
  apiVersion: 'kubevirt.io/v1',
  kind: 'VirtualMachineInstance',
  metadata: { name: 'web' },
  spec: { domain: { devices: { interfaces: [{ name: 'front' }] } } },
  status: { phase: 'Running', interfaces: [{ name: 'front', linkState: 'down' }, { name: 'back' }] },
};

const off = (virtualMachine: KubernetesObject, interfaceName = 'front', instance: KubernetesObject | undefined = RUNNING) =>
  planLinkOff({ virtualMachine, instance, interfaceName });
const patchOf = (...interfaces: readonly object[]) => ({ spec: { template: { spec: { domain: { devices: { interfaces } } } } } });

describe('switching a link off and on', () => {
  it('changes the state of this interface alone, and restores what was written before', () => {
    expect(off(machine())).toEqual({ kind: 'patch', before: undefined, patch: patchOf({ ...FRONT, state: 'down' }, BACK) });
    expect(planLinkOn(machine('down'), 'front', undefined)).toEqual(patchOf(FRONT, BACK));
    expect(off(machine('up'))).toMatchObject({ kind: 'patch', before: 'up' });
    expect(planLinkOn(machine('down'), 'front', 'up')).toEqual(patchOf({ ...FRONT, state: 'up' }, BACK));
  });

  it('leaves a link alone that is on already, or whose interface is gone', () => {
    expect(planLinkOn(machine(), 'front', undefined)).toBeUndefined();
    expect(planLinkOn(machine('up'), 'front', undefined)).toBeUndefined();
    expect(planLinkOn(machine('down', [BACK]), 'front', undefined)).toBeUndefined();
  });

  it.each([
    ['of an interface that does not exist', off(machine(), 'nic'), 'has no interface nic: it has front, back'],
    ['of a machine without interfaces', off(machine(undefined, [])), 'has no interface front: its template has none'],
    [
      'that somebody else has switched off',
      off(machine('down')),
      `is off already; to switch it on: ${linkOnCommand(machine(), 'front')}`,
    ],
    ['of an interface that is being unplugged', off(machine('absent')), 'interface front is being unplugged'],
    [
      'of a machine without an instance',
      planLinkOff({ virtualMachine: machine(), instance: undefined, interfaceName: 'front' }),
      'does not run',
    ],
    ['of an interface that the running machine does not have', off(machine(), 'back'), 'since before it got interface back'],
    ['of a machine that starts', off(machine(), 'front', { ...RUNNING, status: { phase: 'Scheduling' } }), 'does not run'],
  ])('refuses a link %s', (_, plan, message) => {
    expect(plan).toEqual({ kind: 'refused', message: expect.stringContaining(message) });
  });

  it('names the command with which a person switches the link on', () => {
    const path = '/spec/template/spec/domain/devices/interfaces/1';
    const patch = `[{"op":"test","path":"${path}/name","value":"back"},{"op":"test","path":"${path}/state","value":"down"},{"op":"remove","path":"${path}/state"}]`;
    expect(linkOnCommand(machine(), 'back')).toBe(`kubectl patch vm -n default web --type=json -p '${patch}'`);
  });

  it('reads the link that KubeVirt reports', () => {
    expect(reportedLink(RUNNING, 'front')).toBe('down');
    expect(reportedLink(RUNNING, 'back')).toBeUndefined();
    expect(reportedLink(undefined, 'front')).toBeUndefined();
  });
});
