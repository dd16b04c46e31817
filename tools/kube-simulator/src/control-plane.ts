/** What stands between the wire and the store, and what works in the background: everything that decides. */
import type { ApiClient } from './api/api-client.js';
import type { ApiObject } from './api-object.js';
import { defaultRoles } from './auth/default-roles.js';
import { EscalationCheck } from './auth/escalation.js';
import { livePolicy, RbacAuthorizer } from './auth/rbac-authorizer.js';
import type { IssueToken } from './auth/service-account-with-tokens.js';
import { TokenAuthenticator } from './auth/token-authenticator.js';
import { answerTokenRequest } from './auth/token-request.js';
import { adminUser } from './auth/user.js';
import type { SimulatedNodes } from './controllers/simulated-nodes.js';
import { type Controllers, startControllers } from './controllers/start-controllers.js';
import { notFound } from './failures.js';
import type { Faults } from './faults.js';
import type { RequestChain, User } from './http/request-chain.js';
import { serviceAccount } from './resources/core/config-map.js';
import type { ResourceRegistry } from './resources/resource-registry.js';
import type { ConnectRequest } from './resources/resource-type.js';

export interface ControlPlaneOptions {
  readonly client: ApiClient;
  readonly registry: ResourceRegistry;
  readonly adminToken: string;
  readonly tokens: Readonly<Record<string, User>>;
  /** PEM; undefined over plain HTTP. */
  readonly authority: string | undefined;
  readonly faults: Faults;
  readonly nodes: SimulatedNodes;
  readonly orphanedPodsMs: number;
  /** Told when a controller failed; it tries again by itself. */
  readonly onError: (error: unknown) => void;
}

export interface ControlPlane {
  readonly chain: RequestChain;
  readonly escalation: EscalationCheck;
  readonly issueToken: IssueToken;
  /** Makes what every cluster has (namespaces, roles) and starts the controllers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function assembleControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { client, registry, faults } = options;
  const policy = livePolicy(client);
  let controllers: Controllers | undefined;
  return {
    chain: {
      authenticator: tokenAuthenticator(options),
      authorizer: new RbacAuthorizer(policy),
      faults,
    },
    escalation: new EscalationCheck(policy),
    issueToken: (request) => issueToken(options, request),
    start: async () => {
      await furnish(client);
      controllers = await startControllers({
        ...options,
        api: client,
        types: () => registry.all,
        typeOf: (apiVersion, kind) => registry.ofKind(apiVersion, kind),
      });
    },
    stop: async () => {
      await controllers?.stop();
      policy.stop();
    },
  };
}

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Tokens of ServiceAccounts are as good as the administrator's token is secret. */
const signingKeyOf = ({ adminToken }: ControlPlaneOptions): Buffer => Buffer.from(adminToken);

function tokenAuthenticator(options: ControlPlaneOptions): TokenAuthenticator {
  const authenticator = new TokenAuthenticator({
    signingKey: signingKeyOf(options),
    serviceAccountUid: (namespace, name) => options.client.get({ resource: 'serviceaccounts', namespace, name })?.metadata.uid,
    nowSeconds,
  });
  authenticator.addToken(options.adminToken, adminUser);
  for (const [token, user] of Object.entries(options.tokens)) authenticator.addToken(token, user);
  return authenticator;
}

function issueToken(
  options: ControlPlaneOptions,
  { namespace, name, object }: Pick<ConnectRequest, 'namespace' | 'name' | 'object'>,
): ApiObject {
  const account = options.client.get({ resource: 'serviceaccounts', namespace, name });
  if (account === undefined) throw notFound(serviceAccount, name);
  const context = { serviceAccount: account, signingKey: signingKeyOf(options), nowSeconds: nowSeconds() };
  return answerTokenRequest(object, context);
}

/** What is in every cluster from the beginning. */
async function furnish(client: ApiClient): Promise<void> {
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    if (client.get({ resource: 'namespaces', name }) === undefined) {
      await client.create({ resource: 'namespaces' }, { metadata: { name } });
    }
  }
  for (const role of defaultRoles) {
    const path = { group: 'rbac.authorization.k8s.io', resource: `${role.kind.toLowerCase()}s` };
    if (client.get({ ...path, name: role.metadata.name }) === undefined) await client.create(path, role);
  }
}
