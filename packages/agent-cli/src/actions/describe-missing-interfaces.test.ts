import { expect, it } from 'vitest';
import { describeMissingInterfaces } from './describe-missing-interfaces.js';

it('names interfaces that do not exist, each once, and those that do', () => {
  expect(describeMissingInterfaces(['eth0', 'eth7', 'eth7'], ['lo', 'eth0'])).toEqual([
    'interface eth7 does not exist, so its pools are not served; there are lo, eth0: create it, or name another one with --interface',
  ]);
  expect(describeMissingInterfaces(['eth0'], ['lo', 'eth0'])).toEqual([]);
});
