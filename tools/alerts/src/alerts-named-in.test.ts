import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { alertsNamedIn } from './alerts-named-in.js';
import { ALERTS } from './all-alerts.js';

const LAB_TESTS = join(import.meta.dirname, '../../lab/tests/*.lab.test.ts');

it('names are those of calls that wait for alerts, each once', () => {
  const source = `// VmdhcpOne
    await alerts.fires('VmdhcpTwo', 'VmdhcpThree');
    await alerts.fires(
      'VmdhcpThree',
    );
    expect('VmdhcpFour');`;
  expect(alertsNamedIn(source)).toEqual(['VmdhcpThree', 'VmdhcpTwo']);
});

it('each alert fires in a lab test, which compares what fired with what it names', () => {
  const sources = globSync(LAB_TESTS).map((path) => readFileSync(path, 'utf8'));
  const withAlerts = sources.filter((source) => alertsNamedIn(source).length > 0);
  expect(new Set(withAlerts.flatMap(alertsNamedIn))).toEqual(new Set(ALERTS.map(({ name }) => name)));
  for (const source of withAlerts) expect(source).toContain('expect(alerts.fired).toEqual(alertsNamedIn(');
});
