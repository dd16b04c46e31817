import { describe, expect, it } from 'vitest';
import type { WakeConfig } from '../machine/wake-config.js';
import { DecisionWorld, MAC_A } from './decision-fixtures.js';

const STOPPED = { runStrategy: 'Manual', printableStatus: 'Stopped' };
const PASSWORD = 'office/password';
const SECURED: WakeConfig = { name: 'secured', namespaces: ['lab'], mode: 'All', passwordSecret: PASSWORD };
const ELSEWHERE: WakeConfig = { name: 'open', namespaces: ['prod'], mode: 'All' };

function worldOf(...configs: readonly WakeConfig[]): DecisionWorld {
  const world = new DecisionWorld();
  world.configs = configs;
  world.machines.set('lab/vm-a', STOPPED);
  return world;
}

describe('a machine that only a WolConfig with a password allows', () => {
  it.each([undefined, 'other/password'])(
    'is not started by a packet whose agent checked %s, and nothing is read',
    async (checked) => {
      const world = worldOf(SECURED, ELSEWHERE);
      const report = checked === undefined ? {} : { passwordSecret: checked };
      const { status, message } = await world.ask(MAC_A, report);
      expect(status).toBe('vm-not-found');
      expect(message).toContain('only with the password of WolConfig secured');
      expect([world.calls, world.events]).toEqual([[], []]);
      expect(world.answers[0]?.verdict.reason).toBe('password-not-checked');
    },
  );

  it('is started by a packet with the password, also right after one without', async () => {
    const world = worldOf(SECURED, ELSEWHERE);
    await world.ask(MAC_A);
    expect((await world.ask(MAC_A, { passwordSecret: PASSWORD })).status).toBe('vm-start-initiated');
  });

  it('is not started when its WolConfig without a password is gone while it is read', async () => {
    const world = worldOf(SECURED, { ...ELSEWHERE, namespaces: ['lab'] });
    world.onRead = () => {
      world.configs = [SECURED];
    };
    expect((await world.ask(MAC_A)).message).toContain('no WolConfig allows that any longer');
    expect(world.calls).toEqual(['read lab/vm-a']);
  });
});
