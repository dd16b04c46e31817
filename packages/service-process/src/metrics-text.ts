import type { Registry } from 'prom-client';
import { joined } from './in-slices.js';
import { ReadGauge } from './read-gauge.js';

/** The page of all metrics, in pieces: one or more of each metric. Source: Prometheus text format 0.0.4. */
export async function* metricsText(registry: Registry): AsyncGenerator<string> {
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    if (metric instanceof ReadGauge) yield* joined(metric.lines());
    else yield `${await registry.getSingleMetricAsString(name)}\n`;
    yield '\n';
  }
}
