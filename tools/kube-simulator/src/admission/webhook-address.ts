import type { ServiceReference, Webhook } from '../resources/core/webhook-configuration.js';

/** The address at which a Service is really served. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** Finds the Services of the cluster: there is no network behind their names. */
export interface ServiceDirectory {
  endpointOf(service: ServiceReference): Endpoint | undefined;
  exists(service: ServiceReference): boolean;
}

/** Where to send a review. */
export interface WebhookAddress {
  /** As messages show it. */
  readonly url: string;
  readonly connectTo: Endpoint;
  readonly path: string;
  /** Name that the certificate must have. */
  readonly serverName: string;
  /** PEM. */
  readonly ca?: string;
}

export type AddressResult =
  | { readonly kind: 'address'; readonly address: WebhookAddress }
  | { readonly kind: 'unreachable'; readonly problem: string };

/** The address of the webhook; the timeout goes into the query, as a hint to the webhook. */
export const resolveWebhookAddress = (
  { clientConfig, timeoutSeconds = 10 }: Webhook,
  services: ServiceDirectory,
): AddressResult => {
  const ca = clientConfig.caBundle ? { ca: Buffer.from(clientConfig.caBundle, 'base64').toString() } : {};
  const { service } = clientConfig;
  const url = new URL(service === undefined ? (clientConfig.url ?? '') : serviceUrl(service));
  url.searchParams.set('timeout', `${timeoutSeconds}s`);
  // URL drops the default port, which messages about Services show.
  const shown = service === undefined ? url.href : `${serviceUrl(service)}${url.search}`;
  const port = url.port === '' ? 443 : Number(url.port);
  const connectTo = service === undefined ? { host: url.hostname.replace(/^\[|\]$/g, ''), port } : services.endpointOf(service);
  if (connectTo === undefined) return { kind: 'unreachable', problem: `Post "${shown}": ${describeMissing(service, services)}` };
  const path = `${url.pathname}${url.search}`;
  return { kind: 'address', address: { url: shown, connectTo, path, serverName: url.hostname, ...ca } };
};

const serviceUrl = ({ namespace, name, port = 443, path = '/' }: ServiceReference): string =>
  `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;

const describeMissing = (service: ServiceReference | undefined, services: ServiceDirectory): string => {
  const name = service?.name ?? '';
  return service !== undefined && services.exists(service)
    ? `no endpoints available for service "${name}"`
    : `service "${name}" not found`;
};
