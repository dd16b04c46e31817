import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { pool } from '../fixtures/object-fixtures.js';
import { PoolViews } from './pool-views.js';

function versioned(generation: number, change: (spec: Record<string, unknown>) => object = (spec) => spec): KubernetesObject {
  const made = pool();
  return { ...made, metadata: { ...made.metadata, uid: 'u', generation }, spec: change(made.spec as Record<string, unknown>) };
}

describe('pools by network', () => {
  it('a pool is found by the network that it names, until it vanishes', () => {
    const views = new PoolViews();
    expect([...views.update('default/pool-1', pool())]).toEqual(['default/net-1']);
    expect([...views.on('default/net-1')]).toEqual(['default/pool-1']);
    expect([...views.on('default/net-2')]).toEqual([]);
    expect([...views.update('default/pool-1', undefined)]).toEqual(['default/net-1']);
    expect([...views.on('default/net-1')]).toEqual([]);
    expect([...views.update('default/pool-1', undefined)]).toEqual([]);
  });

  it('a pool that is created again with another network affects both', () => {
    const views = new PoolViews();
    views.update('default/pool-1', pool());
    const again = pool('pool-1', { network: 'net-2' });
    expect([...views.update('default/pool-1', again)]).toEqual(['default/net-1', 'default/net-2']);
    expect([[...views.on('default/net-1')], [...views.on('default/net-2')]]).toEqual([[], ['default/pool-1']]);
  });
});

describe('the interpretation of a pool', () => {
  it('is computed once for each version of the object, and the spec once for each generation', () => {
    const views = new PoolViews();
    const first = versioned(1);
    expect(views.of(first)).toBe(views.of(first));
    const written = { ...versioned(1), status: { ipv4: { allocated: { '10.0.0.10': '02:00:00:00:00:0a' } } } };
    const view = views.of(written);
    expect(view.reading).toBe(views.of(first).reading);
    expect([...view.addressOf.values()].map(formatIpv4Address)).toEqual(['10.0.0.10']);
  });

  it('is parsed only for changed parts, whatever its status is, until the pool is gone', () => {
    const views = new PoolViews();
    const readingOf = (object: KubernetesObject) => {
      views.update('default/pool-1', object);
      const { recorded, reading } = views.of(object);
      return [recorded.marks, reading, recorded.addressOf.size] as const;
    };
    const recording = (...last: readonly string[]) => {
      const entries = last.map((octet) => [`10.0.0.${octet}`, `02:00:00:00:00:${octet}`]);
      return { ...versioned(1), status: { ipv4: { allocated: Object.fromEntries(entries) } } };
    };
    const [marks, reading] = readingOf(recording('10'));
    const [nextMarks, nextReading, size] = readingOf(recording('10', '11'));
    expect(size).toBe(2);
    expect(nextMarks).toBe(marks);
    expect(nextReading).toBe(reading);
    views.update('default/pool-1', undefined);
    const [newMarks, newReading] = readingOf(recording('10'));
    expect(newMarks).not.toBe(marks);
    expect(newReading).not.toBe(reading);
  });

  it.each<[string, KubernetesObject]>([
    [
      'another generation',
      versioned(2, (spec) => ({ ...spec, ipv4Config: { ...(spec['ipv4Config'] as object), serverIP: '10.0.0.3' } })),
    ],
    [
      'another pool of that name',
      {
        ...versioned(1, (spec) => ({ ...spec, ipv4Config: { ...(spec['ipv4Config'] as object), serverIP: '10.0.0.3' } })),
        metadata: { ...versioned(1).metadata, uid: 'other' },
      },
    ],
  ])('is computed again for %s', (_, next) => {
    const views = new PoolViews();
    views.of(versioned(1));
    const { reading } = views.of(next);
    expect(reading.ok && reading.pool.serverAddress).toBe(parseIpv4Address('10.0.0.3'));
  });

  it('is computed each time for an object without a generation', () => {
    const views = new PoolViews();
    views.of(pool());
    const { reading } = views.of(pool('pool-1', { ipv4Config: { serverIP: '10.0.0.3' } }));
    expect(reading.ok && reading.pool.serverAddress).toBe(parseIpv4Address('10.0.0.3'));
  });

  it.each([
    [{ paused: true }, true],
    [{ paused: false }, false],
    [{}, false],
    [{ paused: 'yes' }, false],
  ])('%j is paused: %s', (more, paused) => {
    expect(new PoolViews().of(versioned(1, (spec) => ({ ...spec, ...more }))).paused).toBe(paused);
  });

  it('a name without a namespace is in the namespace of the pool; without a name it has no network', () => {
    expect(new PoolViews().of(pool('pool-1', { network: 'net-7' })).network).toBe('default/net-7');
    expect(new PoolViews().of(pool('pool-1', { network: '' })).network).toBe('');
  });
});
