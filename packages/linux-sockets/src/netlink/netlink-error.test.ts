import { describe, expect, it } from 'vitest';
import { NetlinkError } from './netlink-error.js';

describe('NetlinkError', () => {
  it.each([
    [1, 'EPERM', 'cannot add the address: EPERM; grant CAP_NET_ADMIN'],
    [17, 'EEXIST', 'cannot add the address: EEXIST'],
    [19, 'ENODEV', 'cannot add the address: ENODEV'],
  ])('error number %d is %s', (errorNumber, code, message) => {
    expect(new NetlinkError('add the address', errorNumber)).toMatchObject({ code, message });
  });
});
