import { stringify } from 'yaml';
import { type Alert, expressionOf } from './alert.js';

export interface RulesSettings {
  /** The folder of the runbooks: an address without a slash at the end. */
  readonly runbooks: string;
  /** How long an expression must be true, for all alerts; default: what each alert has. For tests. */
  readonly for?: string;
  /** What is too long, in seconds, for all alerts about time; default: what each alert has. For tests. */
  readonly seconds?: number;
}

const HEAD = `# Alerts of vmdhcp for Prometheus, with a runbook for each: docs/runbooks.
# Written by \`npm run generate\` from tools/alerts: change that, not this file.
`;

/** A file of rules, as \`rule_files\` of Prometheus reads it. The alerts of a group keep their order. */
export function formatRules(alerts: readonly Alert[], settings: RulesSettings): string {
  const groups = [...Map.groupBy(alerts, ({ group }) => group)].map(([group, own]) => ({
    name: `vmdhcp-${group}`,
    rules: own.map((alert) => toRule(alert, settings)),
  }));
  return HEAD + stringify({ groups }, { lineWidth: 0 });
}

function toRule({ name, severity, summary, description, ...alert }: Alert, settings: RulesSettings): object {
  return {
    alert: name,
    expr: expressionOf(alert, settings.seconds),
    for: settings.for ?? alert.for,
    labels: { severity },
    annotations: { summary, description, runbook_url: `${settings.runbooks}/${name}.md` },
  };
}
