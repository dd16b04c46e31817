import { expect, it } from 'vitest';
import type { AuditRow } from '../output/audit-rows.js';
import { lastOwnerLines } from './last-owners.js';

const ROW: AuditRow = {
  pool: 'default/net-48',
  address: '192.168.48.17',
  macAddress: '02:00:5e:10:00:01',
  virtualMachine: 'shop/web-3',
  interface: 'nic',
  to: '2026-11-19T16:40:31Z',
  ended: 'vm-deleted',
};
const { interface: _one, virtualMachine: _other, ...RESERVATION } = ROW;

it.each<[string, Parameters<typeof lastOwnerLines>[0], string]>([
  [
    'a virtual machine',
    { assignments: [ROW] },
    '192.168.48.17 of IPPool default/net-48 was last assigned to shop/web-3, interface nic, 02:00:5e:10:00:01, until 2026-11-19T16:40:31Z: the virtual machine was deleted (vm-deleted)',
  ],
  [
    'no virtual machine, and an end that was not recorded',
    { assignments: [{ ...RESERVATION, toNotBefore: '2026-11-19T16:00:00Z', ended: 'not-recorded' }] },
    '192.168.48.17 of IPPool default/net-48 was last assigned to no known virtual machine, 02:00:5e:10:00:01, until a time between 2026-11-19T16:00:00Z and 2026-11-19T16:40:31Z: it ended while nothing was recorded: the controller had stopped, or its records could not be written (not-recorded)',
  ],
  [
    'records that may not be read',
    { assignments: [], problem: 'the records of assignments: cannot list configmaps in namespace vm-dhcp-agents' },
    'who had it last is not known: the records of assignments: cannot list configmaps in namespace vm-dhcp-agents',
  ],
])('%s, for people', (_name, before, text) => {
  expect(lastOwnerLines(before)).toEqual([`  ${text}`]);
});
