/**
 * Metrics for processes with very many objects. A separate entry point, because it loads prom-client.
 *
 * @packageDocumentation
 */
export { ReadGauge, type ReadGaugeSettings, type Series } from './read-gauge.js';
