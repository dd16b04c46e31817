/**
 * Runs the process of the controller: DHCP and the parts that join it, under one leadership, with metrics and a log.
 *
 * @packageDocumentation
 */

export { type ClusterOptions, clusterOf, connect, failedRequest, openConnection } from './cluster/connect.js';
export { type AddParts, joinParts } from './run/added-parts.js';
export { ControllerProcess, type ControllerProcessSettings } from './run/controller-process.js';
export { readElectionTimes } from './run/election-times.js';
export { logLevelOf } from './run/log-level.js';
export { type ControllerMetrics, createControllerMetrics } from './run/metrics.js';
