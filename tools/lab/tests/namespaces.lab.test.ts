/** The namespaces that labs and demos run in. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = new URL('../../../scripts/in-namespaces.mjs', import.meta.url).href;
const CODE = `
  const { findNamespaces, runInNamespaces } = await import(process.argv[1]);
  const { way, reason } = findNamespaces();
  if (way === undefined) throw new Error(reason);
  process.exitCode = runInNamespaces(way, 'touch', [process.argv[2]]).status;
`;

it.each(['/dev/shm', '/run'])('what is left in %s goes with the namespaces', (folder) => {
  const file = `${folder}/${randomUUID()}`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', CODE, SCRIPT, file], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(existsSync(file)).toBe(false);
});
