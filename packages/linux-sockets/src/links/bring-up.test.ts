import { expect, it } from 'vitest';
import { readRecorded, readWritten } from '../netlink/recorded-messages-fixtures.js';
import { bringUpRequest } from './bring-up.js';

it('bringUpRequest is that of ip, recorded', () => {
  expect(readWritten(bringUpRequest(5))).toEqual(readRecorded('ip link set net1 up', 16));
});
