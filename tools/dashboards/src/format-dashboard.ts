import type { Dashboard, Panel, Query, Row, Variable } from './dashboard.js';

const COLUMNS = 24;
const HEIGHT = { stat: 4, timeseries: 8, table: 8 } as const;
const SOURCE = { type: 'prometheus', uid: '$datasource' } as const;
/** The schema version of Grafana 10.4, which later versions also read. */
const SCHEMA_VERSION = 39;

interface Position {
  readonly h: number;
  readonly w: number;
  readonly x: number;
  readonly y: number;
}

/** The JSON that Grafana imports. The same dashboard is the same text. */
export function formatDashboard({ name, title, description, variables, rows }: Dashboard): string {
  const dashboard = {
    uid: `vmdhcp-${name}`,
    title: `vmdhcp / ${title}`,
    description,
    tags: ['vmdhcp'],
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    schemaVersion: SCHEMA_VERSION,
    time: { from: 'now-6h', to: 'now' },
    links: [{ type: 'dashboards', title: 'vmdhcp', tags: ['vmdhcp'], asDropdown: true, keepTime: true }],
    templating: { list: [dataSource(), ...variables.map(toVariable)] },
    panels: toPanels(rows),
  };
  return `${JSON.stringify(dashboard, undefined, 2)}\n`;
}

function dataSource(): object {
  return { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' };
}

function toVariable({ name, label, valuesOf, metric }: Variable): object {
  const query = { query: `label_values(${metric}, ${valuesOf})`, refId: name };
  const all = { includeAll: true, multi: true, allValue: '.*', current: { text: 'All', value: '$__all' } };
  return { name, label, type: 'query', datasource: SOURCE, query, refresh: 2, sort: 1, ...all };
}

function toPanels(rows: readonly Row[]): object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of rows) {
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { h: 1, w: COLUMNS, x: 0, y } });
    y += 1;
    const [w, h] = [COLUMNS / own.length, Math.max(...own.map(({ type }) => HEIGHT[type]))];
    for (const [index, panel] of own.entries())
      panels.push({ id: panels.length + 1, ...toPanel(panel, { h, w, x: index * w, y }) });
    y += h;
  }
  return panels;
}

function toPanel({ type, title, description, unit, queries, worry }: Panel, gridPos: Position): object {
  const thresholds = worry === undefined ? {} : { thresholds: { mode: 'absolute', steps: stepsOf(worry) } };
  const defaults = { unit, ...(type === 'timeseries' && unit !== 'dateTimeFromNow' && { min: 0 }), ...thresholds };
  const targets = queries.map((query, index) => toTarget(query, { index, isNow: type !== 'timeseries' }));
  return { type, title, description, datasource: SOURCE, gridPos, fieldConfig: { defaults, overrides: [] }, targets };
}

function stepsOf(worry: NonNullable<Panel['worry']>): object[] {
  return 'from' in worry
    ? [
        { color: 'green', value: null },
        { color: 'red', value: worry.from },
      ]
    : [
        { color: 'red', value: null },
        { color: 'green', value: worry.below },
      ];
}

function toTarget({ expression, legend }: Query, { index, isNow }: { readonly index: number; readonly isNow: boolean }): object {
  const refId = String.fromCharCode('A'.charCodeAt(0) + index);
  const range = isNow ? { instant: true, range: false } : { range: true };
  return { refId, datasource: SOURCE, expr: expression, legendFormat: legend, ...range };
}
