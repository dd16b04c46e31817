// npm run pictures: tests that have the data of a dashboard draw it into docs/pictures. They run the real programs and a real Prometheus, and take about two minutes.

import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { findNamespaces } from '../in-namespaces.mjs';
import { runLabTests } from '../run-lab-tests.mjs';

const FOLDER = 'docs/pictures';
const FILES = ['alerts.lab', 'wake-on-lan-cluster.lab'];

const { way, reason } = findNamespaces();
if (way === undefined) stop(`pictures cannot be made: ${reason}`);
if (spawnSync('prometheus', ['--version']).error !== undefined)
  stop('prometheus is not installed: apt-get install --no-install-recommends prometheus');
process.env.VMDHCP_PICTURES = join(process.cwd(), FOLDER);
let failed = 0;
await runLabTests(way, FILES, (files) => ({
  parameters: ['run', '--config', 'vitest.lab.config.ts', ...files],
  ended: (status) => {
    failed += status === 0 ? 0 : 1;
  },
}));
for (const path of globSync(`${FOLDER}/dashboard-*.svg`).toSorted()) process.stdout.write(`${path}\n`);
process.exitCode = failed === 0 ? 0 : 1;

function stop(text) {
  process.stderr.write(`${text}\n`);
  process.exit(69);
}
