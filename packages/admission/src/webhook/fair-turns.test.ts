import { describe, expect, it } from 'vitest';
import { FairTurns } from './fair-turns.js';

describe('FairTurns', () => {
  it('an address with many waiting requests lets others go in between', async () => {
    const turns = new FairTurns();
    const order: string[] = [];
    const take = async (address: string) => {
      await turns.take(address);
      order.push(address);
    };
    await Promise.all([take('pod'), take('pod'), take('pod'), take('api-1'), take('api-2'), take('api-1')]);
    expect(order).toEqual(['pod', 'api-1', 'api-2', 'pod', 'api-1', 'pod']);
    await take('pod');
    expect(order).toHaveLength(7);
  });

  it('each turn is one of the event loop', async () => {
    const turns = new FairTurns();
    const order: string[] = [];
    const first = turns.take('pod').then(() => order.push('first'));
    const second = turns.take('pod').then(() => order.push('second'));
    setImmediate(() => order.push('another event'));
    await Promise.all([first, second]);
    expect(order).toEqual(['first', 'another event', 'second']);
  });
});
