/**
 * A small Kubernetes API server, in this process or in one of its own.
 *
 * @packageDocumentation
 */
export type { CallResult, CallWebhook } from './admission/call-webhook.js';
export type { Endpoint, WebhookAddress } from './admission/webhook-address.js';
export type { ApiClient } from './api/api-client.js';
export { ApiError } from './api-error.js';
export type { ApiObject, Json, JsonObject } from './api-object.js';
export type { BackOff } from './controllers/pod-run.js';
export { idlePod, type PodProcess, type RunPod } from './controllers/run-pod.js';
export type { NodeDescription, SimulatedNodes } from './controllers/simulated-nodes.js';
export type { Pod } from './controllers/workload-kinds.js';
export { createFrontProxy } from './credentials.js';
export type { ExecInPod, ExecProcess, ExecRequest } from './exec/exec-in-pod.js';
export type { Fault, FaultEffect, Faults, RequestSelector, WatchFault } from './faults.js';
export { createServerCertificate, type ServerCertificate } from './http/certificates.js';
export type { InMemoryAnswer, InMemoryRequest } from './http/in-memory-exchange.js';
export { type KubeSimulator, type KubeSimulatorOptions, startKubeSimulator } from './kube-simulator.js';
export type { AuditedRequest } from './request/audit.js';
