/**
 * Metrics for processes with very many objects. Of its own entry point, as it loads prom-client.
 *
 * @packageDocumentation
 */
export { ReadGauge, type ReadGaugeSettings, type Series } from './read-gauge.js';
