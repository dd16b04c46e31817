import { isRecord, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { Running } from './controller-fixtures.js';

/** 1,024 ranges of 256 addresses: 26 kB of spec. */
const EXCLUDE = Array.from({ length: 1_024 }, (_, index) => {
  const [second, third] = [16 + Math.floor(index / 256), index % 256];
  return `10.${second}.${third}.0-10.${second}.${third}.255`;
});
const LARGE = {
  start: '10.16.0.0',
  end: '10.255.255.254',
  ipv4Config: {
    cidr: '10.0.0.0/8',
    serverIP: '10.0.0.2',
    router: '10.0.0.1',
    pool: { start: '10.16.0.0', end: '10.255.255.254', exclude: EXCLUDE },
  },
};

const entriesOf = (running: Running): [string, unknown][] => {
  const recorded = readField(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'ipv4', 'allocated');
  return Object.entries(isRecord(recorded) ? recorded : {});
};
const countWrites = (running: Running): { pools: number } => {
  const written = { pools: 0 };
  running.cluster.ipPools.onWritten = () => written.pools++;
  return written;
};

describe('excluded ranges in the status of a pool', () => {
  it('1,024 ranges of 256 addresses get 1,024 marks, not 262,144; the pool works', async () => {
    const running = await Running.withPool(LARGE);
    await running.add(virtualMachine('vm-a'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.20.0.0': '02:00:00:00:00:0a' });
    expect(entriesOf(running).filter(([, mark]) => mark === 'EXCLUDED')).toHaveLength(1_024);
    expect(JSON.stringify(running.cluster.ipPools.objects.get('default/pool-1')?.status).length).toBeLessThan(32_768);
    expect(running.conditions('IPPool', 'pool-1')).toContain('CacheReady=True ExclusionsNotListed');
    expect(running.events()).toEqual([]);
    const [, condition] = readList(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'conditions');
    expect(readText(condition, 'message')).toBe(
      '1020 of 1024 excluded ranges are not listed in status.ipv4.allocated, which lists at most 1024 excluded addresses and no range of more than 256; nothing is wrong: no client gets an excluded address, listed or not',
    );
  });

  it('surplus marks in a status are removed in one write, and the status stays stable after that', async () => {
    const running = new Running();
    const marks = Array.from({ length: 20_000 }, (_, index) => [`10.16.${index >>> 8}.${index & 255}`, 'EXCLUDED']);
    const before = pool('pool-1', LARGE);
    await running.add(network(), before);
    running.change('IPPool', 'pool-1', (object) => ({ ...object, status: { ipv4: { allocated: Object.fromEntries(marks) } } }));
    const written = countWrites(running);
    await running.started();
    expect(written.pools).toBe(1);
    expect(entriesOf(running)).toHaveLength(1_024);
    await running.settle(60_000);
    await running.restart();
    expect(written.pools).toBe(1);
  });
});
