import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { ReadGauge } from './read-gauge.js';

it('has the series that there are when it is asked, and no others', async () => {
  const registry = new Registry();
  let names = ['a', 'b'];
  const read = () => names.map((name) => ({ name }));
  new ReadGauge({ name: 'things', help: 'Things.', labelNames: ['name'], registers: [registry], read });
  expect(await registry.metrics()).toBe('# HELP things Things.\n# TYPE things gauge\nthings{name="a"} 1\nthings{name="b"} 1\n');
  names = ['b'];
  expect(await registry.metrics()).toBe('# HELP things Things.\n# TYPE things gauge\nthings{name="b"} 1\n');
  names = [];
  expect(await registry.metrics()).toBe('# HELP things Things.\n# TYPE things gauge\n');
});
