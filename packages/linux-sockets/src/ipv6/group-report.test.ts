import { expect, it } from 'vitest';
import { encodeGroupReport } from './group-report.js';
import { readIpv6Packet } from './ipv6-packet.js';

const hex = (text: string) => Uint8Array.from(Buffer.from(text, 'hex'));
const SOURCE = hex('fe80000000000000020000fffd00000a');
const [SERVERS, ROUTERS] = [hex('ff020000000000000000000000010002'), hex('ff020000000000000000000000000002')];

it('RFC 3810 §5.2: a report has a router alert, a hop limit of 1, and a record of each group', () => {
  const packet = readIpv6Packet(encodeGroupReport(SOURCE, [SERVERS, ROUTERS]));
  expect(packet).toMatchObject({
    source: SOURCE,
    destination: hex('ff020000000000000000000000000016'),
    nextHeader: 0,
    hopLimit: 1,
  });
  const [alert, report] = [packet?.payload.subarray(0, 8), packet?.payload.subarray(8) ?? SOURCE];
  expect(alert).toEqual(hex('3a00050200000100'));
  expect(report.subarray(0, 2)).toEqual(hex('8f00'));
  expect(report.subarray(4)).toEqual(
    hex('00000002' + '04000000ff020000000000000000000000010002' + '04000000ff020000000000000000000000000002'),
  );
  // The checksum of another program.
  expect(report.subarray(2, 4)).toEqual(hex('6ce4'));
});

it('RFC 3810 §6: the group of all nodes is not reported', () => {
  const nodes = hex('ff020000000000000000000000000001');
  expect(encodeGroupReport(SOURCE, [SERVERS, nodes])).toEqual(encodeGroupReport(SOURCE, [SERVERS]));
});
