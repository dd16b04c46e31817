/** A range that is changed while virtual machines have addresses of it. */
import { describe, expect, it } from 'vitest';
import { readList, readText } from '../object/read-field.js';
import { Running, virtualMachine } from './controller-fixtures.js';

function setRange(running: Running, range: { readonly start: string; readonly end: string }): void {
  running.change('IPPool', 'pool-1', ({ spec, ...object }) => {
    const { ipv4Config, ...rest } = spec as { ipv4Config: object };
    return { ...object, spec: { ...rest, ipv4Config: { ...ipv4Config, pool: range } } };
  });
}

const cacheReady = (running: Running) =>
  running.conditions('IPPool', 'pool-1').find((condition) => condition.startsWith('CacheReady'));

describe('a range that', () => {
  it('grows gives the new addresses to those who wait, and everybody keeps their own', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.10' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'), virtualMachine('vm-c'));
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a' });
    expect(running.events()).toContain('PoolExhausted on VirtualMachine vm-b');
    setRange(running, { start: '10.0.0.10', end: '10.0.0.11' });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    setRange(running, { start: '10.0.0.9', end: '10.0.0.11' });
    await running.settle();
    expect(running.allocated()).toMatchObject({ '10.0.0.9': '02:00:00:00:00:0c', '10.0.0.10': '02:00:00:00:00:0a' });
  });

  it('shrinks, as a CRD of another version may allow, cuts off no address in use, and that is said', async () => {
    const running = await Running.withPool({ start: '10.0.0.10', end: '10.0.0.12' });
    await running.add(virtualMachine('vm-a'), virtualMachine('vm-b'));
    await running.settle();
    setRange(running, { start: '10.0.0.11', end: '10.0.0.12' });
    await running.settle();
    expect(running.allocated()).toEqual({ '10.0.0.10': '02:00:00:00:00:0a', '10.0.0.11': '02:00:00:00:00:0b' });
    expect(running.conditions('VirtualMachineNetworkConfig', 'vm-a')).toContain('Allocated=True');
    expect(cacheReady(running)).toBe('CacheReady=True AddressOutsideRange');
    expect(running.events()).toContain('AddressOutsideRange on IPPool pool-1');
    const conditions = readList(running.cluster.ipPools.objects.get('default/pool-1')?.status, 'conditions');
    expect(
      readText(
        conditions.find((one) => readText(one, 'type') === 'CacheReady'),
        'message',
      ),
    ).toBe(
      'outside spec.ipv4Config.pool (10.0.0.11-10.0.0.12) on network default/net-1, and kept as long as their virtual machines claim them: 10.0.0.10 (02:00:00:00:00:0a); lower start or raise end, or reserve them for these MAC addresses',
    );
    await running.restart();
    expect(running.allocated(), 'also with another controller').toMatchObject({ '10.0.0.10': '02:00:00:00:00:0a' });
    await running.remove('VirtualMachine', 'vm-a');
    await running.settle(40_000);
    expect(running.allocated()).toEqual({ '10.0.0.11': '02:00:00:00:00:0b' });
    expect(cacheReady(running)).toBe('CacheReady=True');
  });
});
