// What is written from tools/alerts and tools/dashboards, as text.
import { ALERTS, formatRules, formatRunbook, formatRunbookIndex } from '../../tools/alerts/dist/index.js';
import { DASHBOARDS, formatDashboard } from '../../tools/dashboards/dist/index.js';
import { repository } from '../repository.mjs';

export const RUNBOOKS = 'docs/runbooks';

export const DASHBOARDS_FOLDER = 'charts/vmdhcp/dashboards';

export const RULES = 'alerts/vmdhcp.rules.yaml';

const rules = formatRules(ALERTS, { runbooks: `${repository.url}/blob/main/${RUNBOOKS}` });

/** By path, from the root of the repository. */
export const alertPages = new Map([
  [RULES, rules],
  // Helm reads no file outside of a chart.
  ['charts/vmdhcp/files/vmdhcp.rules.yaml', rules],
  [`${RUNBOOKS}/README.md`, formatRunbookIndex(ALERTS)],
  ...DASHBOARDS.map((dashboard) => [`${DASHBOARDS_FOLDER}/vmdhcp-${dashboard.name}.json`, formatDashboard(dashboard)]),
  ...ALERTS.map((alert) => [`${RUNBOOKS}/${alert.name}.md`, formatRunbook(alert)]),
]);
