import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { obtainCredentials } from './credentials.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'kube-simulator-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('clients of the last run are known to the next one', async () => {
  const options = { host: '127.0.0.1', tls: true, adminToken: undefined, file: join(directory, 'credentials') };
  const first = await obtainCredentials(options);
  expect(await obtainCredentials(options)).toEqual(first);
  expect(statSync(options.file).mode & 0o777).toBe(0o600);
  const elsewhere = await obtainCredentials({ ...options, host: '127.0.0.2' });
  expect(elsewhere.certificate).not.toEqual(first.certificate);
  expect(elsewhere.adminToken).toBe(first.adminToken);
  expect((await obtainCredentials({ ...options, adminToken: 'given' })).adminToken).toBe('given');
});
