import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { ReadGauge, type Series } from './read-gauge.js';

function gaugeOf(read: () => Iterable<Series<'name' | 'place'>>, help = 'Things.') {
  const registry = new Registry();
  const gauge = new ReadGauge({ name: 'things', help, labelNames: ['name', 'place'], registers: [registry], read });
  return { registry, gauge };
}

describe('a gauge that is read', () => {
  it('has exactly the series that exist when it is read', async () => {
    let names = ['a', 'b'];
    const { registry } = gaugeOf(() => names.map((name) => ({ labels: { name, place: '' }, value: 1 })));
    const head = '# HELP things Things.\n# TYPE things gauge\n';
    expect(await registry.metrics()).toBe(`${head}things{name="a",place=""} 1\nthings{name="b",place=""} 1\n`);
    names = ['b'];
    expect(await registry.metrics()).toBe(`${head}things{name="b",place=""} 1\n`);
    names = [];
    expect(await registry.metrics()).toBe(head);
  });

  it('law: its lines equal those of prom-client for the same series', async () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('a"b', 'a\\b', 'a\nb', '\\n', 'ü'));
    const series = fc.record({ labels: fc.record({ name: text, place: text }), value: fc.double({ noNaN: true }) });
    const all = fc.uniqueArray(series, { selector: ({ labels }) => JSON.stringify(labels), maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(all, text, async (read, help) => {
        fc.pre(help !== '');
        const registry = new Registry();
        const peer = new Gauge({ name: 'things', help, labelNames: ['name', 'place'], registers: [registry] });
        for (const { labels, value } of read) peer.set(labels, value);
        fc.pre(read.every(({ value }) => Number.isFinite(value)));
        expect([...gaugeOf(() => read, help).gauge.lines()].join('')).toBe(await registry.metrics());
      }),
    );
  });
});
