import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DASHBOARDS } from '../all-dashboards.js';
import type { Dashboard, Panel } from '../dashboard.js';
import { drawDashboard } from './draw-dashboard.js';
import type { SeriesReading } from './reading.js';
import { escapeXml } from './svg-text.js';

const RANGE = { fromSeconds: 1_000, untilSeconds: 1_060 };
const HOSTILE = '</text><script>alert("1")</script>&\u0000\u{1F980}';

function dashboardOf(...panels: readonly Panel[]): Dashboard {
  return { name: 'tried', title: 'Tried', description: 'Tried.', variables: [], rows: [{ title: 'Row', panels }] };
}

function panelOf(type: Panel['type'], more: Partial<Panel> = {}): Panel {
  return { type, title: `A ${type}`, description: 'What it shows.', unit: 'short', queries: [], ...more };
}

function draw(panel: Panel, ...series: readonly SeriesReading[]): string {
  return drawDashboard(dashboardOf(panel), { ...RANGE, panels: new Map([[panel.title, series]]) });
}

const line = (legend: string, ...values: readonly number[]): SeriesReading => ({
  legend,
  points: values.map((value, index) => [RANGE.fromSeconds + index * 10, value]),
});

/** Texts of the picture, as they are seen. */
const textsOf = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, text]) => text);

describe('a chart', () => {
  it('has a line for each series, round ticks, and the time since its beginning', () => {
    const svg = draw(panelOf('timeseries'), line('used', 0, 10, 20, 37), line('free', 40, 30, 20, 3));
    expect([...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points = '']) => points.split(' ').length)).toEqual([4, 4]);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['0', '10', '20', '30', '40', '0:00', '0:30', '1:00', 'used', 'free']));
  });

  it('has a gap where there is no number, and a dot where one stands alone', () => {
    const svg = draw(panelOf('timeseries'), line('one', 1, 2, Number.NaN, 3, Number.POSITIVE_INFINITY, 4, 5));
    expect(svg.match(/<polyline/g)).toHaveLength(2);
    expect(svg.match(/<circle/g)).toHaveLength(1);
    expect(svg).not.toMatch(/NaN|Infinity/);
  });

  it('needs no points between two of the same height', () => {
    const svg = draw(panelOf('timeseries'), line('flat', 1, 1, 1, 1, 1, 2));
    expect(/<polyline points="([^"]*)"/.exec(svg)?.[1]?.split(' ')).toHaveLength(3);
  });

  it('draws the eight that end highest, and tells how many more there are', () => {
    const svg = draw(
      panelOf('timeseries'),
      ...Array.from({ length: 30 }, (_, number) => line(`pool-${number}`, number, number + 1)),
    );
    expect(svg.match(/<polyline/g)).toHaveLength(8);
    expect(textsOf(svg)).toEqual(expect.arrayContaining(['pool-29', 'pool-22', 'and 22 more']));
    expect(textsOf(svg)).not.toContain('pool-21');
  });
});

describe('a stat', () => {
  it.each([
    [{ worry: { from: 1 } }, 0, 'stat good'],
    [{ worry: { from: 1 } }, 1, 'stat bad'],
    [{ worry: { below: 1 } }, 0, 'stat bad'],
    [{ worry: { below: 1 } }, 1, 'stat good'],
    [{}, 5, 'stat'],
    [{ worry: { from: 1 } }, Number.NaN, 'stat'],
  ] as const)('with %j and the value %d is %s', (more, value, name) => {
    expect(draw(panelOf('stat', more), line('', value))).toContain(`class="${name}"`);
  });

  it.each([
    ['short', 1_234, '1.23 k'],
    ['s', 0.0023, '2.3 ms'],
    ['s', 5_400, '1.5 h'],
    ['ops', 0.5, '0.5/s'],
    ['bytes', 8_388_608, '8 MiB'],
    ['percentunit', 0.25, '25 %'],
    ['dateTimeFromNow', (RANGE.untilSeconds + 86_400 * 90) * 1_000, 'in 90 d'],
    ['short', -3, '-3'],
    ['short', Number.NaN, '–'],
  ] as const)('of %s shows %d as %s', (unit, value, text) => {
    expect(textsOf(draw(panelOf('stat', { unit }), line('', value)))).toContain(text);
  });
});

it('a table has a row for each series, and tells how many more there are', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, number) => line(`pool-${number}`, 1, number));
  const texts = textsOf(draw(panelOf('table'), ...rows(3)));
  expect(texts).toEqual(expect.arrayContaining(['pool-0', 'pool-2', '2']));
  expect(textsOf(draw(panelOf('table'), ...rows(40))).at(-1)).toMatch(/^and \d+ more$/);
});

it('a panel without data has a word for it', () => {
  expect(textsOf(draw(panelOf('timeseries')))).toContain('no data');
});

describe('names that users chose', () => {
  it.each(['timeseries', 'table'] as const)('are text in a %s', (type) => {
    const svg = draw(panelOf(type), line(HOSTILE, 1, 2));
    for (const hostile of ['<script', '</script', '\u0000']) expect(svg).not.toContain(hostile);
    expect(svg).toContain('&lt;/text&gt;');
  });

  it('law: what is escaped is text that is read as it was, and is the same in every picture', () => {
    const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const escaped = escapeXml(text);
        expect(escaped).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
        const read = escaped.replace(/&([^;]+);/g, (_, name: string) => entities[name] ?? '');
        expect(read.replaceAll('\uFFFD', '')).toBe(
          [...text.toWellFormed()].filter((one) => escapeXml(one) !== '\uFFFD').join(''),
        );
      }),
    );
  });
});

describe.each(DASHBOARDS.map((dashboard) => [dashboard.title, dashboard] as const))('the picture of %s', (_, dashboard) => {
  const panels = dashboard.rows.flatMap((row) => row.panels);
  const wave = (number: number, points: number): SeriesReading => ({
    legend: `namespace-of-a-team/pool-of-a-network-${number}`,
    points: Array.from({ length: points }, (__, at) => [1_000 + at, Math.sin(at * number) * 1_000 + 2_000]),
  });
  const reading = {
    ...RANGE,
    panels: new Map(panels.map(({ title }) => [title, Array.from({ length: 20 }, (__, number) => wave(number, 50))])),
  };

  it('has every panel, each with a title of its own, and is less than 100 kB', () => {
    const svg = drawDashboard(dashboard, reading);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    for (const { title } of panels) expect(svg).toContain(`<title>${escapeXml(title)}</title>`);
    expect(Buffer.byteLength(svg)).toBeLessThan(100_000);
    expect(drawDashboard(dashboard, reading)).toBe(svg);
  });
});
