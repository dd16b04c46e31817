/** `observedGeneration` of conditions, and what it costs in writes. */

import { type KubernetesObject, readField, readList } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';

import { virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const VMS = ['vm-a', 'vm-b', 'vm-c'];

function generations(object: KubernetesObject | undefined): unknown[] {
  return readList(object?.status, 'conditions').map((condition) => readField(condition, 'observedGeneration'));
}

const poolOf = ({ cluster }: Running) => cluster.ipPools.objects.get('default/pool-1');

/** Objects of an earlier version: settled, with conditions without generations. */
async function upgraded(): Promise<{ story: Running; writes: string[] }> {
  const story = await Running.withPool();
  for (const name of VMS) await story.add(virtualMachine(name));
  await story.settle();
  const strip = (object: KubernetesObject): KubernetesObject => {
    const conditions = readList(object.status, 'conditions').map((condition) => ({
      ...(condition as object),
      observedGeneration: undefined,
    }));
    const status = { ...(object.status as object), conditions: JSON.parse(JSON.stringify(conditions)) as unknown };
    return { ...object, status };
  };
  await story.controller.stop();
  story.change('IPPool', 'pool-1', (object) => strip({ ...object, metadata: { ...object.metadata, generation: 1 } }));
  for (const name of VMS) story.change('VirtualMachineNetworkConfig', name, strip);
  const writes: string[] = [];
  for (const resource of story.cluster.resources) resource.onWritten = (what, key) => void writes.push(`${what} ${key}`);
  await story.restart();
  await story.settle(60_000);
  return { story, writes };
}

describe('observedGeneration', () => {
  it('does not cause writes in an upgrade', async () => {
    const { story, writes } = await upgraded();
    expect(writes).toEqual([]);
    expect(generations(poolOf(story))).not.toContain(1);
  });

  it('is added to a write for another reason: one write, not two', async () => {
    const { story, writes } = await upgraded();
    await story.add(virtualMachine('vm-d'));
    await story.settle();
    expect(writes.filter((write) => write.endsWith('default/pool-1'))).toHaveLength(1);
    expect(new Set(generations(poolOf(story)))).toEqual(new Set([1]));
    expect(writes.filter((write) => VMS.some((name) => write.endsWith(`/${name}`)))).toEqual([]);
  });

  it('follows a changed spec with one write of that object only', async () => {
    const { story, writes } = await upgraded();
    await story.add(virtualMachine('vm-d'));
    await story.settle();
    writes.length = 0;
    story.change('IPPool', 'pool-1', (object) => ({ ...object, spec: { ...(object.spec as object), onRogueServer: 'Stop' } }));
    await story.settle(60_000);
    expect(new Set(generations(poolOf(story)))).toEqual(new Set([2]));
    expect(writes).toHaveLength(1);
    expect(writes[0]).toMatch(/default\/pool-1$/);
  });
});
