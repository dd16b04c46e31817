// Writes what follows from tools/alerts and tools/dashboards: the rules for Prometheus, as a file and in the chart, a runbook for each alert, and the dashboards
// of the chart. scripts/check-alerts.mjs fails when one of them is not what this would write.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { alertPages, DASHBOARDS_FOLDER, RUNBOOKS } from './reference/alert-pages.mjs';

for (const path of globSync([`${RUNBOOKS}/*.md`, `${DASHBOARDS_FOLDER}/*`])) if (!alertPages.has(path)) rmSync(path);
for (const [path, text] of alertPages) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
