import { expect, it } from 'vitest';
import { formatLeaseTable } from './lease-table.js';

it('each lease is one line in aligned columns, without spaces at the end', () => {
  const lease = { pool: 'net', address: '10.0.0.9', macAddress: '02:00:00:00:00:0a', state: 'assigned' } as const;
  const full = {
    ...lease,
    pool: 'default/net-48',
    hostname: 'printer',
    owner: 'default/vm-a',
    state: 'bound',
    expires: 'never',
  } as const;
  expect(formatLeaseTable([lease, full]).split('\n')).toEqual([
    'POOL            ADDRESS   MAC                HOSTNAME  OWNER         STATE     EXPIRES',
    'net             10.0.0.9  02:00:00:00:00:0a  -         -             assigned  -',
    'default/net-48  10.0.0.9  02:00:00:00:00:0a  printer   default/vm-a  bound     never',
    '',
  ]);
  expect(formatLeaseTable([lease, { ...lease, ipv6Address: 'fd00::9' }]).split('\n')).toEqual([
    'POOL  ADDRESS   IPV6     MAC                HOSTNAME  OWNER  STATE     EXPIRES',
    'net   10.0.0.9  -        02:00:00:00:00:0a  -         -      assigned  -',
    'net   10.0.0.9  fd00::9  02:00:00:00:00:0a  -         -      assigned  -',
    '',
  ]);
  expect(formatLeaseTable([])).toBe('POOL  ADDRESS  MAC  HOSTNAME  OWNER  STATE  EXPIRES\n');
});
