/** Each alert: its names, its words, and a file of tests for promtool. What it finds: `promtool test rules`, and tools/lab/tests/alerts.lab.test.ts. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { expressionOf } from './alert.js';
import { ALERTS } from './all-alerts.js';

const FOLDER = join(import.meta.dirname, '..');
const kebab = (name: string) =>
  name
    .slice('Vmdhcp'.length)
    .replaceAll(/(?<!^)(?=[A-Z])/g, '-')
    .toLowerCase();
const filesIn = (pattern: string, end: string) =>
  globSync(join(FOLDER, pattern))
    .map((path) => basename(path, end))
    .toSorted();

interface TestFile {
  readonly tests: readonly { readonly promql_expr_test: readonly { readonly exp_samples: readonly unknown[] }[] }[];
}

it('each file of alerts and of tests is that of one alert in the list', () => {
  const names = ALERTS.map(({ name }) => kebab(name)).toSorted();
  expect(new Set(names).size).toBe(names.length);
  expect(filesIn('src/alerts/*.ts', '.ts')).toEqual(names);
  expect(filesIn('promtool/*.yaml', '.yaml')).toEqual(names);
});

describe.each(ALERTS.map((alert) => [alert.name, alert] as const))('%s', (name, alert) => {
  it('has tests in which it fires, and in which it does not', () => {
    const { tests } = parse(readFileSync(join(FOLDER, `promtool/${kebab(name)}.yaml`), 'utf8')) as TestFile;
    const fires = tests.map(({ promql_expr_test: checks }) => checks.some(({ exp_samples: samples }) => samples.length > 0));
    const rests = tests.map(({ promql_expr_test: checks }) => checks.some(({ exp_samples: samples }) => samples.length === 0));
    expect([fires.includes(true), rests.includes(true)]).toEqual([true, true]);
  });

  it('names only labels that its expression keeps', () => {
    const named = [...`${alert.summary} ${alert.description}`.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    const kept = [...expressionOf(alert).matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(', '));
    expect(named.filter((label) => !kept.includes(label ?? ''))).toEqual([]);
  });

  it('has a summary of one line, and sentences for a person', () => {
    expect(alert.summary).not.toMatch(/\n|\.$/);
    for (const text of [alert.description, alert.runbook.meaning, alert.runbook.impact, ...alert.runbook.remedy])
      expect(text).toMatch(/[.)]$|`$/);
  });

  it('leads to runbooks that exist', () => {
    const linked = alert.runbook.remedy.flatMap((line) => [...line.matchAll(/\]\((Vmdhcp\w+)\.md\)/g)].map(([, other]) => other));
    expect(linked.filter((other) => !ALERTS.some((one) => one.name === other))).toEqual([]);
  });
});
