import { expect, it } from 'vitest';
import { LEASES } from './lease-rows.js';

const entry = (state: string) => ({
  ...{ networkName: 'default/net', macAddress: '02:00:00:00:00:0a', state },
  ...{ allocatedIPAddress: '10.1.0.10', allocatedIPv6Address: '2001:db8::a' },
});
const rows = (state: string) =>
  LEASES.toRows({ metadata: { namespace: 'red', name: 'web' }, status: { networkConfigs: [entry(state)] } }, 0);

it('the IPv6 address is a column of wide lists, beside the other one', () => {
  const columns = LEASES.columns.map(({ header, isWide = false }) => `${header}${isWide ? ' (wide)' : ''}`);
  expect(columns.slice(3, 6)).toEqual(['ADDRESS', 'IPV6 (wide)', 'MAC']);
});

it('an interface has both of its addresses, and none while it waits', () => {
  expect(rows('Allocated')).toMatchObject([{ address: '10.1.0.10', ipv6Address: '2001:db8::a' }]);
  expect(rows('Pending')).toMatchObject([{ address: '', ipv6Address: '' }]);
});

it('the interfaces of an object that the controller has not seen yet wait', () => {
  const { networkName, macAddress } = entry('');
  const config = { metadata: { namespace: 'red', name: 'web' }, spec: { networkConfigs: [{ networkName, macAddress }] } };
  expect(LEASES.toRows(config, 0)).toMatchObject([{ network: networkName, macAddress, address: '', state: 'Pending' }]);
  expect(LEASES.toRows({ ...config, status: { networkConfigs: [] } }, 0), 'a paused one').toEqual([]);
});
