import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EMPTY_STATE } from '@vmdhcp/lease-stores';
import { expect, it } from 'vitest';
import { AddressBook } from '../addresses/address-book.js';
import { parsePoolsFile } from './parse-pools-file.js';
import { fileState, watchFile } from './watch-file.js';

const POOL = `apiVersion: network.harvesterhci.io/v1alpha1
kind: IPPool
metadata: {name: net-48, namespace: default}
spec:
  networkName: default/net-48
  ipv4Config:
    serverIP: 192.168.48.1
    cidr: 192.168.48.0/24
    pool: {start: 192.168.48.10, end: 192.168.48.200}
`;
const vm = (number: number) => `---
apiVersion: network.harvesterhci.io/v1alpha1
kind: VirtualMachineNetworkConfig
metadata: {name: vm-${number}, namespace: default}
spec:
  vmName: vm-${number}
  networkConfigs:
    - {networkName: default/net-48, macAddress: "02:00:00:00:00:${String(number).padStart(2, '0')}"}
`;

it('a file that takes a second to be written moves no address: its first half is not in effect meanwhile', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vmdhcp-half-'));
  const path = join(folder, 'pools.yaml');
  const watching = new AbortController();
  try {
    const planned: Map<string, number>[] = [];
    const book = new AddressBook(
      {
        directory: { save: async () => undefined },
        nowMs: Date.now,
        expiryOf: () => undefined,
        onPlanned: (pools) =>
          void planned.push(
            new Map(pools.get('default/net-48')?.assignments.map(({ macAddress, address }) => [macAddress, address & 255])),
          ),
      },
      EMPTY_STATE,
    );
    const reload = async () => {
      const result = parsePoolsFile(readFileSync(path, 'utf8'));
      if (result.ok) await book.configure(result.file);
    };
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    writeFileSync(path, POOL + numbers.map(vm).join(''));
    await reload();
    // vm-1 is deleted: the others keep their addresses.
    writeFileSync(path, POOL + numbers.slice(1).map(vm).join(''));
    await reload();
    const before = planned.at(-1);
    watchFile({ path, since: await fileState(path), signal: watching.signal }, () => void reload());
    // The same content once more, as scp and a shell write it over a slow line.
    writeFileSync(path, POOL);
    for (const number of numbers.slice(1)) {
      appendFileSync(path, vm(number));
      await sleep(100);
    }
    await sleep(1_000);
    expect(planned.at(-1)).toEqual(before);
    expect(Math.min(...planned.map(({ size }) => size))).toBe(11);
  } finally {
    watching.abort();
    rmSync(folder, { recursive: true });
  }
});
