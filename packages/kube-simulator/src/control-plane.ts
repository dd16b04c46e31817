/** What stands between the wire and the store, and what works in the background: everything that decides. */
import type { ApiClient } from './api/api-client.js';
import type { ApiObject, JsonObject } from './api-object.js';
import { TokenAuthenticator } from './auth/token-authenticator.js';
import { adminUser } from './auth/user.js';
import { openRequestChain, type RequestChain, type User } from './http/request-chain.js';
import { formatTime } from './resources/go-time.js';
import type { ResourceRegistry } from './resources/resource-registry.js';

export interface ControlPlaneOptions {
  readonly client: ApiClient;
  readonly registry: ResourceRegistry;
  readonly adminToken: string;
  readonly tokens: Readonly<Record<string, User>>;
}

export interface ControlPlane {
  readonly chain: RequestChain;
  /** Makes what every cluster has (namespaces, roles) and starts the controllers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function assembleControlPlane({ client, adminToken, tokens }: ControlPlaneOptions): ControlPlane {
  const authenticator = new TokenAuthenticator({
    signingKey: Buffer.from(adminToken),
    serviceAccountUid: (namespace, name) => client.get({ resource: 'serviceaccounts', namespace, name })?.metadata.uid,
    nowSeconds: () => Math.floor(Date.now() / 1000),
  });
  authenticator.addToken(adminToken, adminUser);
  for (const [token, user] of Object.entries(tokens)) authenticator.addToken(token, user);
  const stops: (() => void)[] = [];
  return {
    chain: { ...openRequestChain, authenticator },
    start: async () => {
      for (const name of ['default', 'kube-system', 'kube-public']) {
        if (client.get({ resource: 'namespaces', name }) === undefined) {
          await client.create({ resource: 'namespaces' }, { metadata: { name } });
        }
      }
      stops.push(establishDefinitions(client));
    },
    stop: async () => {
      for (const stop of stops) stop();
    },
  };
}

const definitions = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };

/** Accepts the names of every CustomResourceDefinition. */
function establishDefinitions(client: ApiClient): () => void {
  return client.watch(definitions, ({ type, object }) => {
    if (type === 'ADDED' && !isEstablished(object)) setImmediate(() => void establish(client, object));
  });
}

function isEstablished(definition: ApiObject): boolean {
  const { conditions } = (definition['status'] ?? {}) as { readonly conditions?: readonly JsonObject[] | null };
  return conditions?.some((condition) => condition['type'] === 'Established') ?? false;
}

async function establish(client: ApiClient, definition: ApiObject): Promise<void> {
  const { names } = definition['spec'] as { readonly names: JsonObject };
  const lastTransitionTime = formatTime(Date.now());
  const conditions = [
    { type: 'NamesAccepted', status: 'True', lastTransitionTime, reason: 'NoConflicts', message: 'no conflicts found' },
    {
      type: 'Established',
      status: 'True',
      lastTransitionTime,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    },
  ];
  const path = { ...definitions, name: definition.metadata.name ?? '', subresource: 'status' };
  await client.patch(path, { type: 'merge', body: { status: { conditions, acceptedNames: names } } });
}
