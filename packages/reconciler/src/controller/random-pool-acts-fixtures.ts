/** Acts on IPPools in random stories. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { pool } from '../fixtures/object-fixtures.js';
import type { Act } from './random-story-state-fixtures.js';

export const pausePool: Act = (story) => {
  const name = story.poolName();
  if (!story.cluster.ipPools.objects.has(`default/${name}`)) return;
  const paused = story.random(2) === 0;
  story.running.change('IPPool', name, (one) => ({ ...one, spec: { ...(one.spec as object), paused } }));
};

export const removeOrRemakePool: Act = (story) => {
  const name = story.poolName();
  const { ipPools } = story.cluster;
  const stored = ipPools.objects.get(`default/${name}`);
  if (stored !== undefined) {
    // Uses the current knowledge about configs.
    story.look();
    story.holdings.poolDeleted(stored.metadata.uid);
    ipPools.remove(`default/${name}`);
    return;
  }
  const serial = story.next();
  const creationTimestamp = `2026-01-02T00:00:${String(serial % 60).padStart(2, '0')}Z`;
  const made = story.pools[name] as KubernetesObject;
  ipPools.put({ ...made, metadata: { ...made.metadata, uid: `again-${serial}`, generation: 1, creationTimestamp } });
};

export const secondPool: Act = (story) => {
  const { ipPools } = story.cluster;
  if (ipPools.objects.has('default/pool-1b')) {
    ipPools.remove('default/pool-1b');
    return;
  }
  const creationTimestamp = `2026-01-0${1 + story.random(3)}T00:00:30Z`;
  const made = pool('pool-1b', { start: '10.0.0.100', end: '10.0.0.109' });
  ipPools.put({ ...made, metadata: { ...made.metadata, uid: `b-${story.next()}`, generation: 1, creationTimestamp } });
};

export const changePool: Act = (story) => {
  const name = story.poolName();
  if (!story.cluster.ipPools.objects.has(`default/${name}`)) return;
  const choices = [
    { leaseTime: story.random(1000) + 60 },
    { cidr: story.random(2) === 0 ? 'nonsense' : '10.0.0.0/24' },
    { reservations: [{ macAddress: `02:00:00:00:ff:0${story.random(5)}`, ipAddress: `10.0.0.${150 + story.random(5)}` }] },
  ];
  const choice = choices[story.random(3)];
  story.running.change('IPPool', name, (one) => {
    const spec = one.spec as { ipv4Config: Record<string, unknown> };
    return { ...one, spec: { ...spec, ipv4Config: { ...spec.ipv4Config, ...choice } } };
  });
};
