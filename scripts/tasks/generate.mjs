// npm run generate: files that are made from source and committed.
import { spawnSync } from 'node:child_process';

const generators = [
  ['packages/ippool-api', 'scripts/write-crds.mjs'],
  ['tools/kube-simulator', 'scripts/write-accepted-table.mjs'],
  ['.', 'scripts/write-alerts.mjs'],
  ['.', 'scripts/write-chart.mjs'],
  ['.', 'scripts/write-help.mjs'],
  ['.', 'scripts/write-reference.mjs'],
];
for (const [cwd, script] of generators) {
  const { status } = spawnSync(process.execPath, [script], { cwd, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
