/** What an alert is: a rule for Prometheus, and the page that a person reads when it fires. */
export interface Alert {
  /** In CamelCase, after `Vmdhcp`; the name of its runbook, too. */
  readonly name: `Vmdhcp${string}`;
  readonly group: AlertGroup;
  /** PromQL: a series for each thing that is wrong; or that of what takes too long. */
  readonly expression: string | TimedExpression;
  /** How long that must be so, as Prometheus writes durations: `5m`. */
  readonly for: string;
  /** `critical`: clients get no reply, or soon. `warning`: something is wrong, or will be. */
  readonly severity: 'critical' | 'warning';
  /** One line; a template of Prometheus, as the description is. */
  readonly summary: string;
  /** What is so, where, and what to do next. */
  readonly description: string;
  readonly runbook: Runbook;
}

/** PromQL of an alert about something that takes longer than it should. */
export interface TimedExpression {
  /** More than this is too long. */
  readonly seconds: number;
  readonly longerThan: (seconds: number) => string;
}

/** The PromQL of an alert. @param seconds - what is too long instead of the alert's own time, so that a test need not wait for it. */
export function expressionOf({ expression }: Pick<Alert, 'expression'>, seconds?: number): string {
  return typeof expression === 'string' ? expression : expression.longerThan(seconds ?? expression.seconds);
}

export type AlertGroup = 'pools' | 'agents' | 'controller' | 'wake-on-lan' | 'bare-metal';

/** Markdown, by hand. */
export interface Runbook {
  /** What is so when the alert fires, and from which facts that follows. */
  readonly meaning: string;
  /** What users notice. */
  readonly impact: string;
  /** Steps in order. */
  readonly diagnosis: readonly Step[];
  readonly remedy: readonly string[];
}

/** A step of a diagnosis. */
export interface Step {
  readonly text: string;
  /** One line for a shell. */
  readonly command?: string;
}
