/** The schema of the lines: other programs read them, and docs/reference/audit.md describes them. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import type { AssignmentRecord } from '@vmdhcp/reconciler';
import { expect, it } from 'vitest';
import { createAuditLog } from './audit-log.js';

const FROM = Date.UTC(2026, 10, 17, 10);
const record: AssignmentRecord = {
  serial: 7,
  address: 0xc0a83011,
  macAddress: parseMacAddress('02:00:5e:10:00:01') as MacAddress,
  virtualMachine: 'default/web',
  uid: '6f1c',
  interface: 'nic',
  network: 'default/vlan-48',
  from: { notBeforeMs: FROM, notAfterMs: FROM },
  began: 'pinned',
};

it('one line for each beginning and each end, with these fields', () => {
  const lines: string[] = [];
  const log = createAuditLog({
    info: (fields: object, message?: string) => void lines.push(`${message} ${JSON.stringify(fields)}`),
  });
  const to = { notBeforeMs: FROM + 5_000, notAfterMs: FROM + 5_000 };
  log('default/net-48', [{ ...record, end: { to, reason: 'vm-deleted' } }, record]);
  const whose =
    '"pool":"default/net-48","address":"192.168.48.17","macAddress":"02:00:5e:10:00:01","virtualMachine":"default/web","uid":"6f1c","interface":"nic","network":"default/vlan-48","from":"2026-11-17T10:00:00Z","began":"pinned"';
  expect(lines).toEqual([
    `address assignment ended {"audit":{"event":"ended",${whose},"to":"2026-11-17T10:00:05Z","ended":"vm-deleted"}}`,
    `address assignment began {"audit":{"event":"began",${whose}}}`,
  ]);
});
