import type { ServerAnswer } from '@vmdhcp/dhcp-agent/packet-path';
import { expect, it } from 'vitest';
import { describeServerAnswer } from './describe-server-answer.js';

const OFFER: ServerAnswer = {
  ...{ type: 'offer', server: '10.0.0.1', serverMacAddress: '02:00:00:00:01:01', address: '10.0.0.10', tookMs: 1.2 },
  ...{ routers: [], dnsServers: [], ntpServers: [], domainSearch: [], classlessRoutes: [], staticRoutes: [] },
};

it.each<[string, Partial<ServerAnswer>, string]>([
  ['what every server sends', {}, 'OFFER 10.0.0.10 from 10.0.0.1 (02:00:00:00:01:01) after 1.2 ms\n'],
  ['a NAK names no address', { type: 'nak' }, 'NAK from 10.0.0.1 (02:00:00:00:01:01) after 1.2 ms\n'],
  [
    'everything that a server can send',
    {
      ...{ type: 'ack', leaseTimeSeconds: 60, subnetMask: '255.255.255.0', routers: ['10.0.0.1'], mtu: 1450 },
      ...{
        dnsServers: ['10.0.0.2', '10.0.0.3'],
        domainName: 'vm.test',
        domainSearch: ['a.test', 'b.test'],
        ntpServers: ['10.0.0.4'],
      },
      classlessRoutes: [{ destination: '0.0.0.0/0', gateway: '10.0.0.1' }],
      staticRoutes: [{ destination: '11.0.0.0', gateway: '10.0.0.5' }],
    },
    'ACK 10.0.0.10 from 10.0.0.1 (02:00:00:00:01:01) after 1.2 ms: lease 60 s, mask 255.255.255.0, router 10.0.0.1, ' +
      'dns 10.0.0.2 10.0.0.3, domain "vm.test", search "a.test" "b.test", ntp 10.0.0.4, routes 0.0.0.0/0 via 10.0.0.1, ' +
      'static routes 11.0.0.0 via 10.0.0.5, mtu 1450\n',
  ],
])('%s', (_, fields, line) => {
  expect(describeServerAnswer({ ...OFFER, ...fields })).toBe(line);
});
