// What is written from tools/alerts and tools/dashboards is as it would be written now, and pictures have all panels; they and docs/operations.md name metrics and labels that exist; and promtool, a part of
// Prometheus, accepts the rules and runs their tests. Without promtool it ends with exit code 69.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { ALERTS, expressionOf } from '../tools/alerts/dist/index.js';
import { DASHBOARDS, escapeXml, queriesOf, queriesToTry, questionsIn } from '../tools/dashboards/dist/index.js';
import { alertPages, DASHBOARDS_FOLDER, RULES, RUNBOOKS } from './reference/alert-pages.mjs';
import { metrics } from './reference/facts.mjs';

/** So that a page with all of them loads at once. */
const MOST_OF_PICTURE = 100_000;
/** Labels that Prometheus adds to what it scrapes. */
const OF_PROMETHEUS = ['cluster', 'namespace', 'instance', 'job'];
const known = new Map(metrics.flatMap(({ metrics: own }) => own.flatMap(seriesOf)));
const problems = [
  ...findDrift(),
  ...ALERTS.flatMap((alert) => findUnknown(alert.name, expressionOf(alert))),
  ...DASHBOARDS.flatMap(findUnknownOnDashboard),
  ...findWrongPictures(),
  ...queriesOf(questionsIn(readFileSync('docs/operations.md', 'utf8'))).flatMap(({ title, expression }) =>
    findUnknown(title, expression),
  ),
];

// The check is tried on what it must refuse, and on what it must accept.
for (const [expression, count] of [
  ['sum(vmdhcp_agent_no_such_metric) > 0', 1],
  ['sum(vmdhcp_agent_messages_total{kind="x"}) > 0', 1],
  ['sum by (kind) (vmdhcp_agent_messages_total) > 0', 1],
  ['sum by (instance, type) (rate(vmdhcp_agent_messages_total{outcome="nak",reason=~"a|b"}[5m])) > 0', 0],
]) {
  if (findUnknown('tried', expression).length !== count) problems.push(`the check does not see what is wrong with ${expression}`);
}

if (problems.length > 0) end(problems, 1);
if (spawnSync('promtool', ['--version']).error !== undefined) end(['promtool is not installed: apt-get install prometheus'], 69);
promtool('check', 'rules', RULES);
promtool('test', 'rules', ...globSync('tools/alerts/promtool/*.yaml'));

function findDrift() {
  const left = globSync([`${RUNBOOKS}/*.md`, `${DASHBOARDS_FOLDER}/*`]).filter((path) => !alertPages.has(path));
  const other = [...alertPages].filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
  return [
    ...left.map((path) => `${path} is written from nothing in tools/alerts and tools/dashboards: delete it`),
    ...other.map(([path]) => `${path} is not what \`npm run generate\` writes: build, then node scripts/write-alerts.mjs`),
  ];
}

/** What is in a picture varies; it has every panel of its dashboard. */
function findWrongPictures() {
  const pathOf = ({ name }) => `docs/pictures/dashboard-${name}.svg`;
  const left = globSync('docs/pictures/dashboard-*.svg').filter((path) => !DASHBOARDS.some((one) => pathOf(one) === path));
  const outdated = DASHBOARDS.filter((dashboard) => {
    const text = existsSync(pathOf(dashboard)) ? readFileSync(pathOf(dashboard), 'utf8') : '';
    const panels = dashboard.rows.flatMap(({ panels: own }) => own);
    return text.length > MOST_OF_PICTURE || panels.some(({ title }) => !text.includes(`<title>${escapeXml(title)}</title>`));
  });
  return [
    ...left.map((path) => `${path} is of no dashboard: delete it`),
    ...outdated.map((one) => `${pathOf(one)} has not all panels, or more than 100 kB: npm run pictures`),
  ];
}

function findUnknownOnDashboard(dashboard) {
  const { title: page, variables } = dashboard;
  return [
    ...variables.flatMap(({ metric, valuesOf }) => findUnknown(`dashboard ${page}`, `sum by (${valuesOf}) (${metric})`)),
    ...queriesToTry(dashboard).flatMap(({ title, expression }) => findUnknown(`dashboard ${page}, ${title}`, expression)),
  ];
}

/** A name with an underscore is a metric, or a function of PromQL; a label is one of the metrics in the expression. */
function findUnknown(name, expression) {
  const series = [...expression.matchAll(/\b((?:vmdhcp|wol)\w*_\w+)(?:\{([^}]*)\})?/g)];
  const labels = new Set(series.flatMap(([, metric]) => known.get(metric) ?? []).concat(OF_PROMETHEUS));
  const grouped = [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, list]) => list.split(', ').filter(Boolean));
  return [
    ...series.filter(([, metric]) => !known.has(metric)).map(([, metric]) => `${name}: no program has the metric ${metric}`),
    ...series.flatMap(([, metric, matchers = '']) =>
      [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)/g)]
        .filter(([, label]) => known.has(metric) && !known.get(metric).concat(OF_PROMETHEUS).includes(label))
        .map(([, label]) => `${name}: ${metric} has no label ${label}`),
    ),
    ...grouped
      .filter((label) => !labels.has(label))
      .map((label) => `${name}: no metric in its expression has the label ${label}`),
  ];
}

/** A histogram has three, one of which has the label `le`. */
function seriesOf({ name, type, labels }) {
  if (type !== 'histogram') return [[name, labels]];
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_sum`, labels],
    [`${name}_count`, labels],
  ];
}

function promtool(...parameters) {
  const { status, stdout, stderr } = spawnSync('promtool', parameters, { encoding: 'utf8' });
  if (status !== 0) end([stdout, stderr], 1);
}

function end(lines, code) {
  for (const line of lines) process.stdout.write(`${line}\n`);
  process.exit(code);
}
