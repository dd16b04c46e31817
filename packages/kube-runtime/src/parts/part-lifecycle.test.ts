import { describe, expect, it } from 'vitest';
import { PartLifecycle } from './part-lifecycle.js';

function setUp() {
  const log: string[] = [];
  const listed = Promise.withResolvers<void>();
  const state = { isSynced: false };
  const life = new PartLifecycle({
    follow: () => log.push('follows'),
    refresh: () => {
      log.push('lists anew');
      return listed.promise;
    },
    isSynced: () => state.isSynced,
    onWorking: () => log.push('works'),
  });
  const answer = async () => {
    listed.resolve();
    await listed.promise;
    await Promise.resolve();
  };
  return { life, log, state, answer };
}

describe('the life of a part', () => {
  it('story: it follows, lists anew when it leads, and works once everything is listed', async () => {
    const { life, log, state, answer } = setUp();
    life.start();
    life.start();
    state.isSynced = true;
    life.check();
    expect([log, life.isWorking], 'it does not lead').toEqual([['follows'], false]);
    state.isSynced = false;
    life.lead();
    life.lead();
    life.check();
    expect(log).toEqual(['follows', 'lists anew']);
    await answer();
    expect(life.isWorking, 'not everything is listed').toBe(false);
    state.isSynced = true;
    life.check();
    life.check();
    expect([log, life.isWorking]).toEqual([['follows', 'lists anew', 'works'], true]);
    life.stop();
    expect(life.isWorking).toBe(false);
  });

  it('a part that leads without a start follows first, and works at once if everything is listed', async () => {
    const { life, log, state, answer } = setUp();
    state.isSynced = true;
    life.lead();
    await answer();
    expect(log).toEqual(['follows', 'lists anew', 'works']);
  });

  it('a stopped part begins nothing, whatever answers arrive', async () => {
    const { life, log, state, answer } = setUp();
    life.start();
    life.lead();
    life.stop();
    state.isSynced = true;
    await answer();
    life.check();
    life.start();
    life.lead();
    expect(log).toEqual(['follows', 'lists anew']);
  });
});
