import { describe, expect, it } from 'vitest';
import { readAnswers } from '../netlink/netlink-message.js';
import { RECORDED_ANSWERS, readRecorded, readWritten } from '../netlink/recorded-messages-fixtures.js';
import { addAddressRequest, decodeListedAddress, deleteAddressRequest, listAddressesRequest } from './address-message.js';

const ADDRESS = { interfaceIndex: 5, address: 0xc0a83002, prefixLength: 24 };

describe('requests for addresses, beside those of ip, recorded', () => {
  it('add: for ten seconds, without a route to its network, only if it is not there', () => {
    const request = addAddressRequest(ADDRESS, { seconds: 10, prefixRoute: false, ifPresent: 'refuse' });
    const recorded = 'ip address add 192.168.48.2/24 dev net1 valid_lft 10 preferred_lft 10 noprefixroute';
    expect(readWritten(request)).toEqual(readRecorded(recorded, 8));
  });

  it('add or change: NLM_F_REPLACE in place of NLM_F_EXCL, and no flag of the address with a route', () => {
    const request = addAddressRequest(ADDRESS, { seconds: 10, prefixRoute: true, ifPresent: 'change' });
    expect(readWritten(request).header).toContain('14000505');
    expect(readWritten(request).attributes[8]).toBe('00000000');
  });

  it('delete', () => {
    expect(readWritten(deleteAddressRequest(ADDRESS))).toEqual(readRecorded('ip address del 192.168.48.2/24 dev net1', 8));
  });

  it('list: only IPv4 and one interface; a strict kernel refuses anything else', () => {
    expect(listAddressesRequest(5)).toEqual({ type: 22, body: Buffer.from('0200000005000000', 'hex'), attributes: [] });
  });
});

describe('decodeListedAddress', () => {
  it('reads a recorded list: with and without an end, and the local address of a point-to-point link', () => {
    const answers = [...readAnswers(Buffer.from(RECORDED_ANSWERS.addresses, 'hex'))];
    expect(answers.map((answer) => (answer.kind === 'data' ? decodeListedAddress(answer.payload) : undefined))).toEqual([
      { interfaceIndex: 5, address: 0xc0a83002, prefixLength: 24, validSeconds: 10 },
      { interfaceIndex: 5, address: 0x0a000001, prefixLength: 8, validSeconds: Number.POSITIVE_INFINITY },
      { interfaceIndex: 5, address: 0xc0000201, prefixLength: 32, validSeconds: Number.POSITIVE_INFINITY },
    ]);
  });

  it.each([
    ['of IPv6', '0a40800005000000'],
    ['without an address', '0218000005000000'],
    ['that is cut off', '021800'],
  ])('an entry %s is ignored', (_, hex) => {
    expect(decodeListedAddress(Buffer.from(hex, 'hex'))).toBeUndefined();
  });

  it('without IFA_LOCAL and times: the address of IFA_ADDRESS, forever', () => {
    expect(decodeListedAddress(Buffer.from('021800000500000008000100c0a83002', 'hex'))).toEqual({
      ...ADDRESS,
      validSeconds: Number.POSITIVE_INFINITY,
    });
  });
});
