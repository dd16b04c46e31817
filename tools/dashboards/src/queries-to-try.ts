import type { Dashboard, Panel } from './dashboard.js';
import { toMatcher } from './to-matcher.js';

/** A query as Prometheus takes it. */
export interface QueryToTry {
  /** The title of the panel with the query. */
  readonly title: string;
  readonly expression: string;
}

/** A query of a dashboard. */
export interface PanelQuery extends QueryToTry {
  readonly panel: Panel;
  readonly legend: string;
}

export interface Selection {
  /** Values that are selected, by the name of the variable; default: all. */
  readonly selected?: Readonly<Record<string, readonly string[]>>;
  /** In place of `$__rate_interval`; default: five minutes. */
  readonly rateInterval?: string;
}

/** The queries of all panels, as Grafana sends them. */
export function queriesToTry(
  { variables, rows }: Dashboard,
  { selected = {}, rateInterval = '5m' }: Selection = {},
): readonly PanelQuery[] {
  const concrete = (expression: string) =>
    variables
      // A function: a value may contain what `replaceAll` takes for a pattern.
      .reduce((text, { name }) => text.replaceAll(`$${name}`, () => toMatcher(selected[name])), expression)
      .replaceAll('$__rate_interval', rateInterval);
  return rows
    .flatMap(({ panels }) => panels)
    .flatMap((panel) =>
      panel.queries.map(({ expression, legend }) => ({
        ...{ title: panel.title, panel, legend },
        expression: concrete(expression),
      })),
    );
}
