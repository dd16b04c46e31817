// node scripts/start.mjs version: takes the changesets into versions and CHANGELOGs, then writes what has a version in it.
import { spawnSync } from 'node:child_process';

for (const [command, ...parameters] of [
  ['changeset', 'version'],
  ['pnpm', 'install', '--lockfile-only', '--prefer-offline'],
  ['turbo', 'run', 'build', '--output-logs=errors-only'],
  [process.execPath, 'scripts/tasks/generate.mjs'],
  ['biome', 'check', '--write', '.'],
]) {
  // Without the renderer of the chart manifests/ would keep the images of the version before.
  const env = { ...process.env, VMDHCP_REQUIRE_REAL_PARTS: '1' };
  const { status } = spawnSync(command, parameters, { stdio: 'inherit', env });
  if (status !== 0) process.exit(status ?? 1);
}
