import type { Registry } from 'prom-client';
import { joined } from './in-slices.js';
import type { ReadGauge } from './read-gauge.js';

/** The page of all metrics, in pieces: one or more of each metric. Source: Prometheus text format 0.0.4. */
export async function* metricsText(registry: Registry): AsyncGenerator<string> {
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name);
    if (isReadGauge(metric)) yield* joined(metric.lines());
    else yield `${await registry.getSingleMetricAsString(name)}\n`;
    yield '\n';
  }
}

/** Recognized by its method, because importing the class would load prom-client for commands without metrics. */
function isReadGauge(metric: unknown): metric is ReadGauge<string> {
  return typeof (metric as ReadGauge<string>).lines === 'function';
}
