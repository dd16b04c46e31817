import { buffer } from 'node:stream/consumers';
import { describeConnectionFailure } from '../admission/connection-failure.js';
import type { ServiceDirectory } from '../admission/webhook-address.js';
import type { ApiClient } from '../api/api-client.js';
import type { JsonObject } from '../api-object.js';
import type { Condition } from '../controllers/workload-kinds.js';
import { objectsOf, section, textOf } from '../json-parts.js';
import { type ApiRegistration, pathOf } from './api-registration.js';
import type { BackendConnections } from './backend-connections.js';

export interface AvailabilityPorts {
  readonly api: Pick<ApiClient, 'get'>;
  readonly services: ServiceDirectory;
  readonly connections: BackendConnections;
}

/** The result of a check of an aggregated server. */
export interface Availability {
  readonly condition: Pick<Condition, 'status'> & { readonly reason: string; readonly message: string };
  /** The kinds that the server lists; absent if it was not reached. */
  readonly resources?: readonly JsonObject[];
}

const checkTimeoutMs = 5000;

/**
 * Whether an aggregated server can be used: its Service is there, has the port and an endpoint, and the server answers discovery.
 *
 * Source: k8s.io/kube-aggregator/pkg/controllers/status/remote AvailableConditionController.
 */
export const checkAvailability = async (registration: ApiRegistration, ports: AvailabilityPorts): Promise<Availability> => {
  const { service } = registration;
  const where = `service/${service.name} in "${service.namespace}"`;
  const found = ports.api.get({ resource: 'services', namespace: service.namespace, name: service.name });
  if (found === undefined) return unavailable('ServiceNotFound', `${where} is not present`);
  const port = objectsOf(section(found, 'spec')['ports']).find((each) => each['port'] === service.port);
  if (port === undefined) return unavailable('ServicePortError', `${where} is not listening on port ${service.port}`);
  const endpoint = ports.services.endpointOf(service);
  if (endpoint === undefined) {
    const message = `endpointslices for ${where} have no addresses with port name "${textOf(port['name'])}"`;
    return unavailable('MissingEndpoints', message);
  }
  const url = `https://${endpoint.host}:${endpoint.port}${pathOf(registration)}`;
  const failing = (why: string): Availability =>
    unavailable('FailedDiscoveryCheck', `failing or missing response from ${url}: ${why}`);
  try {
    const response = await ports.connections.send(registration, endpoint, {
      method: 'GET',
      path: pathOf(registration),
      headers: { accept: 'application/json', 'x-remote-user': 'system:kube-aggregator', 'x-remote-group': ['system:masters'] },
      signal: AbortSignal.timeout(checkTimeoutMs),
      skipsVerification: true,
    });
    const text = (await buffer(response)).toString();
    const { statusCode = 0 } = response;
    if (statusCode < 200 || statusCode > 299) return failing(`bad status from ${url}: ${statusCode}`);
    return { condition: { status: 'True', reason: 'Passed', message: 'all checks passed' }, resources: resourcesIn(text) };
  } catch (error) {
    return failing(`Get "${url}": ${describeConnectionFailure(error, endpoint)}`);
  }
};

const unavailable = (reason: string, message: string): Availability => ({ condition: { status: 'False', reason, message } });

/** A server that answers discovery with something else has no kinds, but can still be used. */
const resourcesIn = (text: string): readonly JsonObject[] => {
  try {
    return objectsOf((JSON.parse(text) as JsonObject)['resources']);
  } catch {
    return [];
  }
};
