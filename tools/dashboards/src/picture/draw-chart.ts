import type { Panel } from '../dashboard.js';
import { type Axis, formatTick, timeAxis, valueAxis } from './axis.js';
import { formatValue } from './format-value.js';
import type { Box, PanelPicture } from './panel-picture.js';
import type { DashboardReading, SeriesReading } from './reading.js';
import { escapeXml, fitText, widthOf } from './svg-text.js';

/** Readable on white, and by those who do not see red and green apart. */
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#7a4fbf', '#555555'];
const FONT = 10;
const LEGEND_LINE = 14;
const MOST_LEGEND_LINES = 4;
const LEFT = 54;

/** Lines over time, with axes and a legend. */
export function drawChart({ panel, series, box, reading }: PanelPicture): string {
  const shown = largest(series);
  const legend = drawLegend(shown, series.length - shown.length, box);
  const area = { x: box.x + LEFT, y: box.y + 4, width: box.width - LEFT - 8, height: box.height - 22 - legend.height };
  const values = shown.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const axes = { x: timeAxis(reading.untilSeconds - reading.fromSeconds), y: valueAxis(values, panel.unit === 'bytes') };
  const place = scale(area, axes, reading);
  const lines = shown.map(({ points }, index) => drawLine(points.map(place), COLORS[index] ?? ''));
  return [...drawAxes(area, axes, { panel, reading }), ...lines, legend.text].join('\n');
}

/** As many as there are colours: those that end highest, in the order in which they came. */
function largest(series: readonly SeriesReading[]): readonly SeriesReading[] {
  const end = ({ points }: SeriesReading) =>
    points.findLast(([, value]) => Number.isFinite(value))?.[1] ?? Number.NEGATIVE_INFINITY;
  const kept = new Set(series.toSorted((one, other) => end(other) - end(one)).slice(0, COLORS.length));
  return series.filter((one) => kept.has(one));
}

type Place = readonly [x: number, y: number];

function scale(area: Box, axes: { readonly x: Axis; readonly y: Axis }, { fromSeconds }: DashboardReading) {
  return ([at, value]: readonly [number, number]): Place => [
    tenth(area.x + ((at - fromSeconds) / (axes.x.to || 1)) * area.width),
    tenth(area.y + area.height * (1 - (value - axes.y.from) / (axes.y.to - axes.y.from))),
  ];
}

function drawLine(places: readonly Place[], color: string): string {
  const runs: Place[][] = [[]];
  for (const place of places) {
    if (Number.isFinite(place[1])) runs.at(-1)?.push(place);
    else if (runs.at(-1)?.length !== 0) runs.push([]);
  }
  return runs
    .filter((run) => run.length > 0)
    .map((run) => drawRun(run, color))
    .join('\n');
}

function drawRun(run: readonly Place[], color: string): string {
  const [[x, y] = [0, 0]] = run;
  if (run.length === 1) return `<circle cx="${x}" cy="${y}" r="2" fill="${color}"/>`;
  const text = bends(run).map((place) => place.join(','));
  return `<polyline points="${text.join(' ')}" fill="none" stroke="${color}" stroke-width="1.6" stroke-linejoin="round"/>`;
}

/** Without points between two of the same height. */
function bends(run: readonly Place[]): readonly Place[] {
  return run.filter(([, y], index) => run[index - 1]?.[1] !== y || run[index + 1]?.[1] !== y);
}

function drawAxes(
  area: Box,
  axes: { readonly x: Axis; readonly y: Axis },
  { panel, reading }: { readonly panel: Panel; readonly reading: DashboardReading },
): string[] {
  const bottom = area.y + area.height;
  const place = scale(area, axes, reading);
  const heights = axes.y.ticks.map((tick) => {
    const [, y] = place([reading.fromSeconds, tick]);
    const label = escapeXml(fitText(formatValue(tick, panel.unit, reading.untilSeconds), LEFT, FONT));
    return `<path d="M${area.x} ${y}h${area.width}" class="grid"/><text x="${area.x - 5}" y="${y + 3}" class="tick" text-anchor="end">${label}</text>`;
  });
  const times = axes.x.ticks.map((tick) => {
    const [x] = place([reading.fromSeconds + tick, 0]);
    return `<text x="${x}" y="${bottom + 13}" class="tick" text-anchor="middle">${formatTick(tick)}</text>`;
  });
  return [...heights, ...times];
}

interface Entry {
  readonly text: string;
  readonly color: string;
}

/** @param left - series that are not drawn. */
function drawLegend(
  series: readonly SeriesReading[],
  left: number,
  box: Box,
): { readonly text: string; readonly height: number } {
  const entries = series.map(({ legend }, index) => ({
    text: fitText(legend, box.width - 40, FONT),
    color: COLORS[index] ?? '',
  }));
  const placed = fitEntries(entries, left, box.width - 16);
  const height = LEGEND_LINE * ((placed.at(-1)?.line ?? -1) + 1);
  const top = box.y + box.height - height + 6;
  const text = placed.map(({ text: own, color, line, x }) => {
    const [at, y] = [tenth(box.x + 10 + x), top + line * LEGEND_LINE];
    return `<rect x="${at}" y="${y - 2}" width="10" height="3" fill="${color}"/><text x="${at + 14}" y="${y + 3}" class="legend">${escapeXml(own)}</text>`;
  });
  return { text: text.join('\n'), height };
}

type PlacedEntry = Entry & { readonly line: number; readonly x: number };

/** As many as there is room for, and how many more there are. */
function fitEntries(entries: readonly Entry[], left: number, width: number): readonly PlacedEntry[] {
  for (let count = entries.length; count > 0; count--) {
    const more = left + entries.length - count;
    const shown = entries.slice(0, count);
    const placed = placeEntries(more === 0 ? shown : [...shown, { text: `and ${more} more`, color: 'none' }], width);
    if ((placed.at(-1)?.line ?? 0) < MOST_LEGEND_LINES) return placed;
  }
  return [];
}

function placeEntries(entries: readonly Entry[], width: number): PlacedEntry[] {
  let [line, x] = [0, 0];
  return entries.map((entry) => {
    const needed = widthOf(entry.text, FONT) + 26;
    if (x > 0 && x + needed > width) [line, x] = [line + 1, 0];
    const placed = { ...entry, line, x };
    x += needed;
    return placed;
  });
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
