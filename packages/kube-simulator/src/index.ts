export type { ApiClient } from './api/api-client.js';
export { ApiError } from './api-error.js';
export type { ApiObject, Json, JsonObject } from './api-object.js';
export { type KubeSimulator, type KubeSimulatorOptions, startKubeSimulator } from './kube-simulator.js';
