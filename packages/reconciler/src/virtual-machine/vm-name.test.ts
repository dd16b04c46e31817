import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toVmName, virtualMachineNamedBy } from './vm-name.js';

const config = (name: string, vmName: string | undefined) => ({ metadata: { namespace: 'default', name }, spec: { vmName } });

describe('the name of a virtual machine in its VirtualMachineNetworkConfig', () => {
  it.each([
    ['is the name itself, as long as it fits', 'a'.repeat(64), 'a'.repeat(64)],
    ['has a hash in place of the rest', 'a'.repeat(65), /^a+-[0-9a-f]+$/],
  ])('%s', (_, name, expected) => {
    expect(toVmName(name)).toMatch(expected);
    expect(toVmName(name).length).toBeLessThanOrEqual(64);
  });

  it('law: it fits, and the whole name is read back', () => {
    const names = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?$/);
    fc.assert(
      fc.property(names, (one) => {
        expect(toVmName(one).length).toBeLessThanOrEqual(64);
        expect(virtualMachineNamedBy(config(one, toVmName(one)))).toBe(one);
      }),
    );
  });

  it('an object of another client keeps its own name', () => {
    expect(virtualMachineNamedBy(config('web', 'other'))).toBe('other');
    expect(virtualMachineNamedBy(config('web', undefined))).toBe('web');
  });
});
