import type { Panel } from '../dashboard.js';
import { drawChart } from './draw-chart.js';
import { formatValue } from './format-value.js';
import type { Box, PanelPicture } from './panel-picture.js';
import type { SeriesReading } from './reading.js';
import { escapeXml, fitText, widthOf, wrapText } from './svg-text.js';

const TITLE_FONT = 12;
const TEXT_FONT = 10;
const ROW_FONT = 11;
const ROW = 17;
const LINE = 15;
const MOST_LINES = 2;

const DRAW: Readonly<Record<Panel['type'], (picture: PanelPicture) => string>> = {
  timeseries: drawChart,
  stat: drawStat,
  table: drawTable,
};

/** One panel: a frame, its title, what it shows, and its content. */
export function drawPanel(picture: PanelPicture): string {
  const { panel, box, series } = picture;
  const { x, y, width, height } = box;
  const head = drawHead(panel, box);
  const inner = { x, y: y + head.height, width, height: height - head.height - 8 };
  const content = series.length === 0 ? drawNothing(inner) : DRAW[panel.type]({ ...picture, box: inner });
  return [
    `<g><title>${escapeXml(panel.title)}</title><desc>${escapeXml(panel.description)}</desc>`,
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="4" class="panel"/>`,
    head.text,
    content,
    '</g>',
  ].join('\n');
}

/** A stat has no room for what it shows. */
function drawHead({ type, title, description }: Panel, { x, y, width }: Box): { readonly text: string; readonly height: number } {
  const titles = wrapText(title, { width: width - 20, fontSize: TITLE_FONT, most: MOST_LINES });
  const abouts = type === 'stat' ? [] : wrapText(description, { width: width - 20, fontSize: TEXT_FONT, most: MOST_LINES });
  const lines = [...titles.map((line) => ['title', line] as const), ...abouts.map((line) => ['about', line] as const)];
  const text = lines.map(
    ([name, line], index) => `<text x="${x + 10}" y="${y + 18 + index * LINE}" class="${name}">${escapeXml(line)}</text>`,
  );
  return { text: text.join('\n'), height: 10 + lines.length * LINE };
}

function drawNothing({ x, y, width, height }: Box): string {
  return `<text x="${x + width / 2}" y="${y + height / 2}" class="about" text-anchor="middle">no data</text>`;
}

function lastOf({ points }: SeriesReading): number {
  return points.at(-1)?.[1] ?? Number.NaN;
}

function drawStat({ panel, series, box: { x, y, width, height }, reading }: PanelPicture): string {
  const value = series[0] === undefined ? Number.NaN : lastOf(series[0]);
  const text = formatValue(value, panel.unit, reading.untilSeconds);
  const size = Math.min(30, Math.floor(((width - 20) / widthOf(text, 1)) * 10) / 10);
  return `<text x="${x + width / 2}" y="${y + height / 2 + 8}" font-size="${size}" class="${classOf(value, panel.worry)}" text-anchor="middle">${escapeXml(text)}</text>`;
}

function classOf(value: number, worry: Panel['worry']): string {
  if (worry === undefined || Number.isNaN(value)) return 'stat';
  return ('from' in worry ? value >= worry.from : value < worry.below) ? 'stat bad' : 'stat good';
}

function drawTable({ panel, series, box, reading }: PanelPicture): string {
  const most = Math.floor(box.height / ROW);
  const shown = series.length <= most ? series : series.slice(0, most - 1);
  const right = box.x + box.width - 10;
  const rows = shown.map((one, index) => {
    const y = box.y + index * ROW + 12;
    const value = formatValue(lastOf(one), panel.unit, reading.untilSeconds);
    const name = fitText(one.legend, box.width - 34 - widthOf(value, ROW_FONT), ROW_FONT);
    return `<path d="M${box.x + 10} ${y + 5}h${box.width - 20}" class="grid"/><text x="${box.x + 10}" y="${y}" class="row">${escapeXml(name)}</text><text x="${right}" y="${y}" class="row" text-anchor="end">${escapeXml(value)}</text>`;
  });
  if (shown.length === series.length) return rows.join('\n');
  const more = `<text x="${box.x + 10}" y="${box.y + shown.length * ROW + 12}" class="about">and ${series.length - shown.length} more</text>`;
  return [...rows, more].join('\n');
}
