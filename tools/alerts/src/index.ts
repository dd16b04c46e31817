export type { Alert, AlertGroup, Runbook, Step } from './alert.js';
export { ALERTS } from './all-alerts.js';
export { formatRules, type RulesSettings } from './format-rules.js';
export { formatRunbook, formatRunbookIndex } from './format-runbook.js';
