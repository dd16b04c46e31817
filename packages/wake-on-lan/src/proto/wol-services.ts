/** The services, from the .proto files of this package. */
import { fileURLToPath } from 'node:url';
import { loadPackageDefinition, type ServiceDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { AddressChanges } from '../wire/address-changes.js';
import type { WakeEvent } from '../wire/wake-event.js';
import type { WakeEventResponse } from '../wire/wake-event-response.js';

const ROOT = fileURLToPath(new URL('../../proto/', import.meta.url));
const FILES = ['wol/v1/wol.proto', 'vmdhcp/wol/v1/wakeable_addresses.proto'];

export interface HealthResponse {
  readonly status: string;
}

export interface FollowRequest {
  readonly node_name: string;
  readonly password_secret: string;
}

/** The messages of each method, by name of the method. */
export interface WolMessages {
  readonly ReportWOLEvent: { readonly request: WakeEvent; readonly response: WakeEventResponse };
  readonly HealthCheck: { readonly request: { readonly service: string }; readonly response: HealthResponse };
  readonly Follow: { readonly request: FollowRequest; readonly response: AddressChanges };
}

export interface WolServices {
  readonly wol: ServiceDefinition;
  readonly wakeableAddresses: ServiceDefinition;
}

let loaded: WolServices | undefined;

/** The definitions of `wol.v1.WOLService` and `vmdhcp.wol.v1.WakeableAddresses`; the files are read once. */
export function wolServices(): WolServices {
  loaded ??= load();
  return loaded;
}

function load(): WolServices {
  const definition = loadSync(FILES, {
    includeDirs: [ROOT],
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
  });
  const services = loadPackageDefinition(definition) as unknown as {
    readonly wol: { readonly v1: { readonly WOLService: { readonly service: ServiceDefinition } } };
    readonly vmdhcp: { readonly wol: { readonly v1: { readonly WakeableAddresses: { readonly service: ServiceDefinition } } } };
  };
  return { wol: services.wol.v1.WOLService.service, wakeableAddresses: services.vmdhcp.wol.v1.WakeableAddresses.service };
}
