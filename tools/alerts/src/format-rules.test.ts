import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Alert } from './alert.js';
import { formatRules } from './format-rules.js';
import { formatRunbook, formatRunbookIndex } from './format-runbook.js';

const ALERT = {
  name: 'VmdhcpTried',
  group: 'pools',
  expression: 'max by (pool) (tried) == 0\nunless on (pool) other',
  for: '5m',
  severity: 'warning',
  summary: 'pool {{ $labels.pool }} is tried',
  description: 'It is: "{{ $value }}".',
  runbook: {
    meaning: 'First sentence. Second sentence.',
    impact: 'None.',
    diagnosis: [{ text: 'Look:', command: 'kubectl get pods' }, { text: 'Look again.' }],
    remedy: ['Try it.'],
  },
} as const satisfies Alert;
const OTHER: Alert = { ...ALERT, name: 'VmdhcpOther', group: 'agents', for: '0s' };

it('rules have a group for each group of alerts, and lead to the runbook', () => {
  const rules = formatRules([ALERT, OTHER], { runbooks: 'https://example.org/runbooks' });
  expect(parse(rules)).toEqual({
    groups: [
      {
        name: 'vmdhcp-pools',
        rules: [
          {
            alert: 'VmdhcpTried',
            expr: ALERT.expression,
            for: '5m',
            labels: { severity: 'warning' },
            annotations: {
              summary: ALERT.summary,
              description: ALERT.description,
              runbook_url: 'https://example.org/runbooks/VmdhcpTried.md',
            },
          },
        ],
      },
      { name: 'vmdhcp-agents', rules: [expect.objectContaining({ alert: 'VmdhcpOther', for: '0s' })] },
    ],
  });
});

it('rules for a test may fire sooner', () => {
  expect(formatRules([ALERT], { runbooks: '', for: '1s' })).toContain('for: 1s');
});

it('a runbook has the expression, each step with its command, and what to do', () => {
  const page = formatRunbook(ALERT);
  expect(page).toContain('```promql\nmax by (pool) (tried) == 0\nunless on (pool) other\n```');
  expect(page).toContain('It fires when that is so for 5m');
  expect(page).toContain('1. Look:\n\n   ```sh\n   kubectl get pods\n   ```\n\n2. Look again.');
  expect(page).toContain('## What to do\n\n- Try it.');
  expect(formatRunbook(OTHER)).toContain('It fires at once');
});

it('the index has a row for each alert, with the first sentence of its meaning', () => {
  expect(formatRunbookIndex([ALERT])).toContain('| [VmdhcpTried](VmdhcpTried.md) | warning | 5m | First sentence. |');
});

it('what is too long is a number of the alert, which a test may lower: rules with its own number are the rules', () => {
  const timed: Alert = { ...ALERT, expression: { seconds: 30, longerThan: (seconds) => `waited > ${seconds}` } };
  const format = (seconds?: number) => formatRules([timed, OTHER], { runbooks: '', ...(seconds !== undefined && { seconds }) });
  expect(format()).toContain('expr: waited > 30\n');
  expect(format(30)).toBe(format());
  expect(format(1)).toBe(format().replace('> 30', '> 1'));
  expect(formatRunbook(timed)).toContain('```promql\nwaited > 30\n```');
});
