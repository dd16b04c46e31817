/** A dashboard as one picture: what a person sees in Grafana, without Grafana. The same data are the same text. */
import type { Dashboard } from '../dashboard.js';
import { formatTick } from './axis.js';
import { drawPanel } from './draw-panel.js';
import type { Box } from './panel-picture.js';
import type { DashboardReading } from './reading.js';
import { escapeXml } from './svg-text.js';

const WIDTH = 1_200;
const GAP = 8;
const TOP = 62;
const ROW_TITLE = 26;
const HEIGHT = { stat: 104, timeseries: 256, table: 256 } as const;
/** It is part of the picture: pages may have another background. */
const STYLE = [
  'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif;fill:#1f2328}',
  '.panel{fill:#fff;stroke:#d1d9e0}.grid{stroke:#e6eaee;stroke-width:1;fill:none}',
  '.title{font-size:12px;font-weight:600}.about,.tick{font-size:10px;fill:#59636e}.legend{font-size:10px}.row{font-size:11px}',
  '.head{font-size:20px;font-weight:600}.group{font-size:13px;font-weight:600;fill:#59636e}',
  '.stat{font-weight:600}.good{fill:#1a7f37}.bad{fill:#c1121f}',
].join('\n');

/** An SVG with all panels. Those without data are empty. */
export function drawDashboard(dashboard: Dashboard, reading: DashboardReading): string {
  const parts: string[] = [];
  let y = TOP;
  for (const { title, panels } of dashboard.rows) {
    parts.push(`<text x="${GAP}" y="${y + 17}" class="group">${escapeXml(title)}</text>`);
    y += ROW_TITLE;
    const height = Math.max(...panels.map(({ type }) => HEIGHT[type]));
    for (const [index, panel] of panels.entries()) {
      const box = boxOf(index, panels.length, { y, height });
      parts.push(drawPanel({ panel, series: reading.panels.get(panel.title) ?? [], box, reading }));
    }
    y += height + GAP;
  }
  return frame({ dashboard, reading, height: y }, parts);
}

function boxOf(index: number, count: number, { y, height }: Pick<Box, 'y' | 'height'>): Box {
  const width = (WIDTH - GAP * (count + 1)) / count;
  return { x: Math.round(GAP + index * (width + GAP)), y, width: Math.floor(width), height };
}

function frame(
  { dashboard, reading, height }: { readonly dashboard: Dashboard; readonly reading: DashboardReading; readonly height: number },
  parts: readonly string[],
): string {
  const title = escapeXml(`vmdhcp / ${dashboard.title}`);
  const length = formatTick(reading.untilSeconds - reading.fromSeconds);
  const about = escapeXml(
    `${dashboard.description} Here: ${length} minutes of a test with the real programs, in which trouble is made.`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}</style>`,
    `<rect width="${WIDTH}" height="${height}" fill="#f6f8fa"/>`,
    `<text x="${GAP}" y="28" class="head">${title}</text>`,
    `<text x="${GAP}" y="48" class="about">${about}</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
