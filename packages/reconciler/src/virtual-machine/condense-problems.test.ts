import { describe, expect, it } from 'vitest';
import { Running } from '../controller/controller-fixtures.js';
import { network, pool, virtualMachine } from '../fixtures/object-fixtures.js';
import { condenseProblems } from './condense-problems.js';

describe('condenseProblems', () => {
  it('combines problems with one reason, in order, and leaves a single one unchanged', () => {
    const long = 'x'.repeat(900);
    const twice = (message: string) => ({ reason: 'mac-address-twice', message }) as const;
    expect(condenseProblems([])).toEqual([]);
    expect(condenseProblems([twice('x'.repeat(300)), twice('y'.repeat(301))])).toEqual([
      twice(`${'x'.repeat(300)}; ${'y'.repeat(297)}...`),
    ]);
    expect(
      condenseProblems([
        twice('one'),
        { reason: 'mac-address-unreadable', message: long },
        twice('two'),
        twice('three'),
        twice('4'),
      ]),
    ).toEqual([twice('one; two; three; and 1 more'), { reason: 'mac-address-unreadable', message: long }]);
  });

  it('leaves room for Events of others: a virtual machine with 300 interfaces and as many mistakes', async () => {
    const running = new Running();
    await running.add(network(), pool('pool-1'));
    await running.started();
    const octet = (index: number) => index.toString(16).padStart(2, '0');
    const names = Array.from({ length: 300 }, (_, index) => `n${index}`);
    const large = virtualMachine('vm-a', {
      annotations: Object.fromEntries(names.map((name) => [`static-ip.harvesterhci.io/${name}`, `x${name}`])),
      interfaces: Object.fromEntries(
        names.map((name, index) => [name, [`02:00:00:00:${octet(index >> 8)}:${octet(index & 255)}`, 'net-1']]),
      ),
    });
    await running.add(large);
    await running.settle(2);
    await running.add(virtualMachine('vm-b', { interfaces: { nic: ['02:00:00:00:00:0b', 'net-none'] } }));
    await running.settle(60_000);
    expect(running.events()).toEqual([
      'StaticAddressUnreadable on VirtualMachine vm-a',
      'TooManyInterfaces on VirtualMachine vm-a',
      'NoPool on VirtualMachine vm-b',
    ]);
    const [event] = running.cluster.events.objects.values();
    expect(event?.message).toMatch(
      /^annotation static-ip\.harvesterhci\.io\/n0: "xn0" is not an IPv4 address; .*; and 297 more$/,
    );
  });
});
