// Writes what follows from tools/alerts: the rules for Prometheus, as a file and in the chart, and a runbook for each alert. scripts/check-alerts.mjs fails
// when one of them is not what this would write.
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { alertPages, RUNBOOKS } from './reference/alert-pages.mjs';

for (const path of globSync(`${RUNBOOKS}/*.md`)) if (!alertPages.has(path)) rmSync(path);
for (const [path, text] of alertPages) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
