/** Dashboards as JSON. Whether their queries have data: tools/lab/tests/alerts.lab.test.ts and wake-on-lan-cluster.lab.test.ts. */
import { describe, expect, it } from 'vitest';
import { DASHBOARDS } from './all-dashboards.js';
import { formatDashboard } from './format-dashboard.js';
import { queriesToTry } from './queries-to-try.js';

interface Json {
  readonly uid: string;
  readonly panels: readonly {
    readonly id: number;
    readonly type: string;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets?: readonly { readonly expr: string; readonly refId: string }[];
  }[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
}

describe.each(DASHBOARDS.map((dashboard) => [dashboard.title, dashboard] as const))('the dashboard %s', (_, dashboard) => {
  const json = JSON.parse(formatDashboard(dashboard)) as Json;

  it('has panels that fill the width and do not overlap', () => {
    expect(new Set(json.panels.map(({ id }) => id)).size).toBe(json.panels.length);
    const cells = json.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (__, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.length % 24).toBe(0);
    expect(json.panels.every(({ gridPos }) => Number.isInteger(gridPos.w) && gridPos.w >= 4)).toBe(true);
  });

  it('names only variables that it has', () => {
    const known = [...json.templating.list.map(({ name }) => name), '__rate_interval'];
    const expressions = json.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const named = expressions.flatMap((expr) => [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name));
    expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
    expect(queriesToTry(dashboard).filter(({ expression }) => expression.includes('$'))).toEqual([]);
    expect(queriesToTry(dashboard)).toHaveLength(expressions.length);
  });

  it('has labels in its legends that its queries keep, and a sentence for each panel', () => {
    for (const { description, queries } of dashboard.rows.flatMap(({ panels }) => panels)) {
      expect(description).toMatch(/\.$/);
      for (const { legend, expression } of queries) {
        const kept = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
        const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
        if (kept.length > 0) expect(labels.filter((label) => !kept.includes(label))).toEqual([]);
      }
    }
  });
});

it('each has a uid of its own', () => {
  expect(new Set(DASHBOARDS.map(({ name }) => name)).size).toBe(DASHBOARDS.length);
});
