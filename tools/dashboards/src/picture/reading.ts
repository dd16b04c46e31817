/** What the queries of a dashboard returned, as pictures are drawn from it. */
export interface DashboardReading {
  /** Seconds since 1970. */
  readonly fromSeconds: number;
  readonly untilSeconds: number;
  /** By the title of the panel. */
  readonly panels: ReadonlyMap<string, readonly SeriesReading[]>;
}

/** One line of a chart; of a stat or a table only the last point counts. */
export interface SeriesReading {
  readonly legend: string;
  readonly points: readonly ReadPoint[];
}

/** NaN is a gap. */
export type ReadPoint = readonly [atSeconds: number, value: number];

/** A series as Prometheus answers a range query. */
export interface RangeSeries {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [atSeconds: number, value: string])[];
}

/** @param legend - of the query: `{{label}}` becomes the value of the label. */
export function toSeriesReading({ metric, values }: RangeSeries, legend: string): SeriesReading {
  return {
    // A function: a value may contain what `replace` takes for a pattern.
    legend: legend.replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '').trim(),
    points: values.map(([at, value]) => [at, value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value)]),
  };
}
