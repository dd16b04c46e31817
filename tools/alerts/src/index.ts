export { type Alert, type AlertGroup, expressionOf, type Runbook, type Step, type TimedExpression } from './alert.js';
export { alertsNamedIn } from './alerts-named-in.js';
export { ALERTS } from './all-alerts.js';
export { formatRules, type RulesSettings } from './format-rules.js';
export { formatRunbook, formatRunbookIndex } from './format-runbook.js';
