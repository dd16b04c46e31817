/** Networks with another DHCP server on purpose. */
import { EXTERNAL_DHCP_ANNOTATION } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';

import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

const EXTERNAL = { [EXTERNAL_DHCP_ANNOTATION]: 'true' };

function allocated(story: Running): string | undefined {
  return story.conditions('VirtualMachineNetworkConfig', 'vm-a').find((condition) => condition.startsWith('Allocated'));
}

function message(story: Running): string | undefined {
  const conditions = readList(story.networkConfig('vm-a')?.status, 'conditions');
  return readText(
    conditions.find((one) => readText(one, 'type') === 'Allocated'),
    'message',
  );
}

function annotate(story: Running, annotations: Readonly<Record<string, string>>, name = 'net-1'): void {
  const stored = story.cluster.networks.objects.get(`default/${name}`);
  if (stored === undefined) throw new Error('there is no such network');
  story.cluster.networks.put({ ...stored, metadata: { ...stored.metadata, annotations } });
}

async function without(...objects: readonly KubernetesObject[]): Promise<Running> {
  const story = new Running();
  await story.add(...objects);
  return story.started();
}

describe('a network without an IPPool', () => {
  it('that is annotated as served by another DHCP server causes no warning', async () => {
    const story = await without(
      { ...network(), metadata: { ...network().metadata, annotations: EXTERNAL } },
      virtualMachine('vm-a'),
    );
    expect(allocated(story)).toBe('Allocated=True ExternalDHCP');
    expect(message(story)).toBe('other DHCP servers serve these networks: default/net-1');
    expect(story.events()).toEqual([]);
  });

  it('causes a warning until it is annotated, and again without the annotation', async () => {
    const story = await without(network(), virtualMachine('vm-a'));
    expect(allocated(story)).toBe('Allocated=False NoPool');
    expect(story.events()).toEqual(['NoPool on VirtualMachine vm-a']);
    expect(message(story)).toContain('annotate the NetworkAttachmentDefinition network.harvesterhci.io/external-dhcp: "true"');
    annotate(story, EXTERNAL);
    await story.settle();
    expect(allocated(story)).toBe('Allocated=True ExternalDHCP');
    annotate(story, { [EXTERNAL_DHCP_ANNOTATION]: 'false' });
    await story.settle();
    expect(allocated(story)).toBe('Allocated=False NoPool');
  });

  it('beside a served one causes a warning; beside one without a pool, that one is the problem', async () => {
    const interfaces = { one: ['02:00:00:00:00:0a', 'net-1'], two: ['02:00:00:00:00:0b', 'net-2'] } as const;
    const story = await without(network(), network('net-2'), pool(), virtualMachine('vm-a', { interfaces }));
    annotate(story, EXTERNAL, 'net-2');
    await story.settle();
    expect(allocated(story)).toBe('Allocated=True');
    expect(message(story)).toBe('other DHCP servers serve these networks: default/net-2');
    await story.remove('IPPool', 'pool-1');
    await story.settle();
    expect(allocated(story)).toBe('Allocated=False NoPool');
    expect(message(story)).toMatch(/^no IPPool serves default\/net-1;/);
  });

  it('gets addresses as soon as there is an IPPool, even with the annotation', async () => {
    const story = await without(
      { ...network(), metadata: { ...network().metadata, annotations: EXTERNAL } },
      virtualMachine('vm-a'),
    );
    await story.add(pool());
    await story.settle();
    expect(allocated(story)).toBe('Allocated=True');
    expect(story.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
  });
});
