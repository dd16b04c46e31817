import type { Dashboard } from './dashboard.js';

/** A query of a dashboard as Prometheus takes it. */
export interface QueryToTry {
  /** Of the panel. */
  readonly title: string;
  readonly expression: string;
}

/** The queries of all panels, with every value of each variable selected, and Grafana's interval as five minutes. */
export function queriesToTry({ variables, rows }: Dashboard): readonly QueryToTry[] {
  const concrete = (expression: string) =>
    variables.reduce((text, { name }) => text.replaceAll(`$${name}`, '.*'), expression).replaceAll('$__rate_interval', '5m');
  return rows
    .flatMap(({ panels }) => panels)
    .flatMap(({ title, queries }) => queries.map(({ expression }) => ({ title, expression: concrete(expression) })));
}
