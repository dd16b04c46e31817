import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { expect, it } from 'vitest';
import { isOnlyHealth } from './is-only-health.js';

const metadata = { name: 'a', uid: 'u', labels: { one: '1' } };
const status = {
  healthy: true,
  info: { PowerState: 'On' },
  log: { totalLogAccount: 1 },
  lastUpdateTime: 'x',
  basic: { ipAddr: '10.0.0.1' },
};
const before: KubernetesObject = { metadata: { ...metadata, resourceVersion: '1' }, status };
const now = (changes: object, ofMetadata: object = {}): KubernetesObject => ({
  metadata: { ...metadata, resourceVersion: '2', ...ofMetadata },
  status: { ...status, ...changes },
});

it.each<[what: string, now: KubernetesObject | undefined, expected: boolean]>([
  [
    'what polls write',
    now({ healthy: false, healthReady: false, info: {}, log: { totalLogAccount: 2 }, lastUpdateTime: 'y' }),
    true,
  ],
  ['a missing field of health', now({ healthy: undefined }), false],
  ['missing information', now({ info: undefined }), false],
  ['the mirror of health that an earlier version did not write', now({ healthReady: true }), true],
  ['its address', now({ basic: { ipAddr: '10.0.0.2' } }), false],
  ['a label', now({}, { labels: { one: '2' } }), false],
  ['an annotation', now({}, { annotations: { a: 'b' } }), false],
  ['its owner', now({}, { ownerReferences: [] }), false],
  ['another object of the same name', now({}, { uid: 'v' }), false],
  ['its deletion', now({}, { deletionTimestamp: 'x' }), false],
  ['its end', undefined, false],
  ['no status', { metadata }, false],
])('%s', (_, after, expected) => expect(isOnlyHealth(before, after)).toBe(expected));
