import { setFlagsFromString } from 'node:v8';
import { expect, it } from 'vitest';
import { AgentTraffic } from './agent-traffic.js';

setFlagsFromString('--allow-natives-syntax');
/** True if the engine uses the same hidden class for both. */
// oxlint-disable-next-line no-new-func, typescript/no-implied-eval -- no other syntax reaches it
const haveSameShape = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (one: object, other: object) => boolean;

it('a place keeps its shape when packets come, so that compiled code is not discarded', () => {
  const traffic = new AgentTraffic({ nowMs: () => 1_700_000_000_000.5, random: () => 0 });
  const [used, unused] = [traffic.placeOf('eth1', 'default/net-48'), traffic.placeOf('eth2', 'default/net-49')];
  traffic.countGranted(used, 'offer');
  expect(used.lastAtMs).toBe(1_700_000_000_000.5);
  expect(haveSameShape(used, unused)).toBe(true);
  expect(haveSameShape(used, { ...unused })).toBe(false);
});
