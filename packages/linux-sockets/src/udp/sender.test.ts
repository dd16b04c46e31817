import { expect, it } from 'vitest';
import { CurrentSender } from './sender.js';

it('a sender is read from the report of dgram or from a socket address, or is absent', () => {
  const sender = new CurrentSender();
  const read = () => [sender.address, sender.port];
  sender.set({ address: '192.168.48.254', port: 68 });
  expect(read()).toEqual([0xc0a830fe, 68]);
  sender.set(Buffer.from('02000044c0a83001', 'hex'));
  expect(read()).toEqual([0xc0a83001, 68]);
  sender.set(undefined);
  expect(read()).toEqual([0, 0]);
});
