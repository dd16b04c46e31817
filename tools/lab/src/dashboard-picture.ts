/** Pictures of dashboards, for the documentation: with `npm run pictures`, tests that have data draw them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Dashboard,
  drawDashboard,
  type PanelQuery,
  queriesToTry,
  type SeriesReading,
  toSeriesReading,
} from '@vmdhcp/dashboards';
import type { Prometheus, TimeRange } from './prometheus.js';

/** The folder for pictures; undefined to write none. */
const FOLDER = process.env['VMDHCP_PICTURES'];
/** The number of points of each line. */
const POINTS = 50;
/** Between scrapes of a test there are parts of a second. */
const RATE_INTERVAL = '4s';

/** True: this run of the tests draws pictures, and may take longer. */
export const isDrawing = FOLDER !== undefined;

/** Draws a dashboard from what Prometheus has scraped; nothing where no pictures are wanted. */
export async function drawPicture(prometheus: Prometheus, dashboard: Dashboard): Promise<void> {
  if (FOLDER === undefined) return;
  const untilSeconds = Date.now() / 1_000;
  const [first] = await prometheus.query('min(min_over_time(timestamp(up)[1h:1s]))');
  const range = { fromSeconds: Number(first?.value[1] ?? untilSeconds), untilSeconds };
  const panels = new Map<string, SeriesReading[]>();
  for (const query of queriesToTry(dashboard, { rateInterval: RATE_INTERVAL }))
    panels.set(query.title, [...(panels.get(query.title) ?? []), ...(await read(prometheus, query, range))]);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `dashboard-${dashboard.name}.svg`), drawDashboard(dashboard, { ...range, panels }));
}

async function read(
  prometheus: Prometheus,
  { panel, expression, legend }: PanelQuery,
  range: TimeRange,
): Promise<SeriesReading[]> {
  if (panel.type === 'timeseries')
    return (await prometheus.range(expression, range, POINTS)).map((series) => toSeriesReading(series, legend));
  const series = await prometheus.query(expression);
  return series.map(({ metric, value }) => toSeriesReading({ metric, values: [value] }, legend));
}
