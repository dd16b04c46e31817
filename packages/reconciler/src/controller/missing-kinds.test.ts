import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

type Lacking = 'virtualMachines' | 'networks';

const VIRTUAL_MACHINE =
  'the API server does not have the kind VirtualMachine (kubevirt.io/v1): no IPPool is served until KubeVirt is installed';
const NETWORK =
  'the API server does not have the kind NetworkAttachmentDefinition (k8s.cni.cncf.io/v1): no IPPool is served until Multus is installed';

/** Answers lists of this kind like this. @returns a function that defines the kind. */
function refuse(running: Running, kind: Lacking, status = 404): () => void {
  const resource = running.cluster[kind];
  const { list } = resource;
  const fail = async () => {
    await new Promise<void>((resolve) => running.clock.after(1, resolve));
    throw Object.assign(new Error(`HTTP ${status}`), { status });
  };
  Object.assign(resource, { list: fail });
  return () => Object.assign(resource, { list });
}

function setUp(mayLackKinds: boolean) {
  const seen: string[] = [];
  const errors: string[] = [];
  const observer = {
    onMissingKind: (kind: string, message: string | undefined) =>
      seen.push(`${kind} ${message === undefined ? 'found' : 'missing'}`),
    onReadError: (kind: string) => errors.push(kind),
    onSynced: () => seen.push('reconciling'),
  };
  return { running: new Running(observer, { mayLackKinds }), seen, errors };
}

describe('a cluster without KubeVirt and Multus', () => {
  it('story: nothing waits for their kinds if there is no IPPool; they are reported once, and used when they are installed', async () => {
    const { running, seen, errors } = setUp(true);
    const define = [refuse(running, 'virtualMachines'), refuse(running, 'networks')];
    await running.started();
    await running.settle(300_000);
    const { controller } = running;
    expect([controller.synced, controller.unready(), controller.lacks()]).toEqual([false, [], [NETWORK, VIRTUAL_MACHINE]]);
    expect([seen.toSorted(), errors]).toEqual([['networks missing', 'virtualMachines missing'], []]);

    await running.add(pool());
    await running.settle();
    expect(controller.unready(), 'an IPPool needs them').toEqual([
      'not listed yet: networks, virtualMachines',
      NETWORK,
      VIRTUAL_MACHINE,
    ]);
    expect(controller.lacks()).toEqual([]);

    for (const one of define) one();
    await running.settle(60_000);
    await running.add(network(), virtualMachine('vm-a'));
    await running.settle();
    expect([controller.unready(), controller.lacks(), seen.slice(2).toSorted()]).toEqual([
      [],
      [],
      ['networks found', 'reconciling', 'virtualMachines found'],
    ]);
    expect(Object.keys(running.allocated())).toEqual(['10.0.0.10']);
  });

  it('if one of them exists, the other is still missing', async () => {
    const { running } = setUp(true);
    refuse(running, 'networks');
    await running.started();
    expect([running.controller.unready(), running.controller.lacks()]).toEqual([[], [NETWORK]]);
  });

  it('a controller for virtual machines alone waits for them', async () => {
    const { running } = setUp(false);
    refuse(running, 'virtualMachines');
    await running.started();
    expect([running.controller.unready(), running.controller.lacks()]).toEqual([
      ['not listed yet: virtualMachines', VIRTUAL_MACHINE],
      [],
    ]);
  });

  it.each([403, 500])('HTTP %s says nothing about a kind, so the controller waits for it', async (status) => {
    const { running, errors } = setUp(true);
    refuse(running, 'virtualMachines', status);
    await running.started();
    expect(running.controller.unready()).toEqual(['not listed yet: virtualMachines']);
    expect(new Set(errors)).toEqual(new Set(['virtualMachines']));
  });

  it('a kind that was listed once does not count as missing later: no address is freed', async () => {
    const { running, seen, errors } = setUp(true);
    await running.add(network(), pool(), virtualMachine('vm-a'));
    await running.started();
    refuse(running, 'virtualMachines');
    running.cluster.virtualMachines.closeWatches('expired');
    await running.settle(60_000);
    expect([seen, new Set(errors)]).toEqual([['reconciling'], new Set(['virtualMachines'])]);
    expect(Object.keys(running.allocated())).toEqual(['10.0.0.10']);
  });
});
