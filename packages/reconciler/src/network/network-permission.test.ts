import { ALLOWED_POOL_NAMESPACES_ANNOTATION as ALLOWED, IPPOOL_NAME_LABEL, IPPOOL_NAMESPACE_LABEL } from '@vmdhcp/ippool-api';
import { describe, expect, it } from 'vitest';
import { sentenceOf } from '../explanation.js';
import { explainMissingPermission, explainNetworkTaken, mayServeNetwork } from './network-permission.js';
import { planNetworkLabels } from './plan-network-labels.js';

const pool = (namespace: string, name = 'net') => ({ metadata: { namespace, name } });
const labelled = (namespace: string, name: string) => ({ [IPPOOL_NAMESPACE_LABEL]: namespace, [IPPOOL_NAME_LABEL]: name });
const network = (more: object = {}) => ({ metadata: { namespace: 'red', name: 'vlan', ...more } });

describe('an IPPool may serve a network', () => {
  it.each<readonly [string, string, object | undefined, boolean]>([
    ['of its own namespace', 'red', {}, true],
    ['of its own namespace, though the network does not exist', 'red', undefined, true],
    ['not of another namespace', 'blue', {}, false],
    ['not of another namespace where the network does not exist', 'blue', undefined, false],
    ['if the annotation names its namespace', 'blue', { annotations: { [ALLOWED]: 'green, blue' } }, true],
    ['if the annotation allows all', 'blue', { annotations: { [ALLOWED]: 'green,*' } }, true],
    ['not if the annotation names others', 'blue', { annotations: { [ALLOWED]: 'green' } }, false],
    ['if labels name it', 'blue', { labels: labelled('blue', 'net') }, true],
    ['not if labels name another pool', 'blue', { labels: labelled('blue', 'other') }, false],
    ['not if labels name a pool of another namespace', 'blue', { labels: labelled('green', 'net') }, false],
    [
      'not if the annotation is empty, whatever the labels are',
      'blue',
      { annotations: { [ALLOWED]: '' }, labels: labelled('blue', 'net') },
      false,
    ],
  ])('%s', (_, namespace, metadata, may) => {
    expect(mayServeNetwork(pool(namespace), 'red/vlan', metadata && network(metadata))).toBe(may);
  });
});

describe('messages for people', () => {
  it('say what prevents a pool from serving a network', () => {
    const remedy = `add "blue" to the annotation ${ALLOWED} of NetworkAttachmentDefinition red/vlan (names with commas, or *), or create the IPPool in namespace red`;
    expect(sentenceOf(explainMissingPermission(pool('blue'), 'red/vlan', undefined))).toBe(
      `network red/vlan does not exist, or this controller does not read namespace red, so nothing allows IPPools of namespace blue; ${remedy}`,
    );
    expect(sentenceOf(explainMissingPermission(pool('blue'), 'red/vlan', network()))).toBe(
      `network red/vlan belongs to namespace red, which does not allow IPPools of namespace blue; ${remedy}`,
    );
  });

  it.each([
    ['of the same namespace', 'red', 'red', 'delete one of the two'],
    ['of the same other namespace', 'blue', 'blue', 'delete one of the two'],
    ['of another namespace than the network', 'blue', 'red', 'delete this IPPool'],
    ['of the namespace of the network', 'red', 'blue', `without "blue", or to "" for none`],
  ])('a network that an older pool serves: a pool %s', (_, namespace, older, remedy) => {
    const text = sentenceOf(explainNetworkTaken(pool(namespace), 'red/vlan', pool(older, 'older')));
    expect(text).toContain(`network red/vlan is served by the older IPPool ${older}/older already`);
    expect(text).toContain(remedy);
  });
});

describe('the labels of a network', () => {
  const patch = (labels: Record<string, string | null>) => ({ metadata: { labels } });

  it.each<readonly [string, object, ReturnType<typeof pool> | undefined, object | undefined]>([
    ['name the pool of its namespace that serves it', {}, pool('red'), patch(labelled('red', 'net'))],
    ['are as they should be', { labels: labelled('red', 'net') }, pool('red'), undefined],
    ['change where they differ', { labels: labelled('red', 'other') }, pool('red'), patch({ [IPPOOL_NAME_LABEL]: 'net' })],
    [
      'are removed where no pool serves it',
      { labels: labelled('red', 'net') },
      undefined,
      patch({ [IPPOOL_NAMESPACE_LABEL]: null, [IPPOOL_NAME_LABEL]: null }),
    ],
    ['never name a pool of another namespace', {}, pool('blue'), undefined],
    ['of upstream that name it already stay', { labels: labelled('blue', 'net') }, pool('blue'), undefined],
    [
      'of a pool of the same name in another namespace are removed',
      { labels: labelled('green', 'net') },
      pool('blue'),
      patch({ [IPPOOL_NAMESPACE_LABEL]: null, [IPPOOL_NAME_LABEL]: null }),
    ],
    [
      'of another pool are removed',
      { labels: labelled('blue', 'other') },
      pool('blue'),
      patch({ [IPPOOL_NAMESPACE_LABEL]: null, [IPPOOL_NAME_LABEL]: null }),
    ],
  ])('%s', (_, metadata, serving, expected) => {
    expect(planNetworkLabels(network(metadata), serving)).toEqual(expected);
  });
});
