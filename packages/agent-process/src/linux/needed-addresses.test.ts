import { type Ipv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { expect, it } from 'vitest';
import { NeededAddresses, whoseAddress } from './needed-addresses.js';

const parse = (text: string) => parseIpv4Address(text) as Ipv4Address;
const FACTS = {
  apiServer: ['10.53.0.1'],
  own: ['127.0.0.1', '10.42.0.7', 'fd00::7'],
  resolvers: '# of the cluster\nsearch svc.cluster.local\nnameserver 10.53.0.10\nnameserver fd00::10\n',
  routes:
    'Iface\tDestination\tGateway \tFlags\nnet1\t00000000\t0130A8C0\t0003\neth0\t00000000\t01002A0A\t0003\neth0\t00002A0A\t00000000\t0001\n',
  served: new Set(['net1']),
};

it.each<[string, string | undefined]>([
  ['10.53.0.1', 'the API server'],
  ['10.42.0.7', "the agent's pod"],
  ['10.42.0.1', "a gateway of the agent's pod"],
  ['10.53.0.10', "a name server of the agent's pod"],
  ['192.168.48.1', undefined],
  ['0.0.0.0', undefined],
  ['192.168.48.2', undefined],
])('%s belongs to %s', (address, expected) => {
  expect(whoseAddress(parse(address), FACTS)).toBe(expected);
});

it('an API server with a name is looked up', async () => {
  const needed = new NeededAddresses({ server: 'https://localhost:6443', podAddress: undefined, served: new Set(['lo']) });
  expect(needed.whose(parse('127.0.0.1'))).toBeUndefined();
  await needed.refresh();
  expect(needed.whose(parse('127.0.0.1'))).toBe('the API server');
});
