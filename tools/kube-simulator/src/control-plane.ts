/** Everything between HTTP and the store, and the controllers in the background. */
import { type CallWebhook, WebhookCaller } from './admission/call-webhook.js';
import type { Endpoint, ServiceDirectory } from './admission/webhook-address.js';
import { WebhookAdmission } from './admission/webhook-admission.js';
import { Aggregator } from './aggregation/aggregator.js';
import type { ClientCertificate } from './aggregation/backend-connections.js';
import type { ApiClient } from './api/api-client.js';
import type { ApiObject } from './api-object.js';
import { answerReview } from './auth/access-review.js';
import { defaultRoles } from './auth/default-roles.js';
import { EscalationCheck } from './auth/escalation.js';
import { OwnerReferenceCheck } from './auth/owner-reference-check.js';
import { livePolicy, RbacAuthorizer } from './auth/rbac-authorizer.js';
import { RequestAuthenticator } from './auth/request-authenticator.js';
import type { CredentialAnswers } from './auth/review-types.js';
import { TokenAuthenticator } from './auth/token-authenticator.js';
import { answerTokenRequest } from './auth/token-request.js';
import { adminUser } from './auth/user.js';
import type { SimulatedNodes } from './controllers/simulated-nodes.js';
import { type Controllers, startControllers } from './controllers/start-controllers.js';
import { frontProxyName } from './credentials.js';
import { notFound } from './failures.js';
import type { Faults } from './faults.js';
import type { Audit } from './request/audit.js';
import type { Admission, RequestChain } from './request/request-chain.js';
import type { User } from './request-user.js';
import { serviceAccount } from './resources/core/config-map.js';
import type { ResourceRegistry } from './resources/resource-registry.js';

export interface ControlPlaneOptions {
  readonly client: ApiClient;
  readonly registry: ResourceRegistry;
  readonly adminToken: string;
  readonly tokens: Readonly<Record<string, User>>;
  /** PEM; undefined over plain HTTP. */
  readonly authority: string | undefined;
  /** The certificate by which aggregated servers recognize this server. */
  readonly frontProxy: ClientCertificate;
  readonly faults: Faults;
  readonly nodes: SimulatedNodes;
  /** Where the Services of webhooks and APIServices are really served, by `<namespace>/<name>`. */
  readonly services: () => Readonly<Record<string, Endpoint | undefined>>;
  /** Undefined: webhooks are asked over HTTPS. */
  readonly callWebhook: CallWebhook | undefined;
  readonly orphanedPodsMs: number;
  /** Records the requests for the check of owners; undefined if owners are not checked. */
  readonly ownersAudit: Audit | undefined;
  /** Called when a controller failed; it tries again by itself. */
  readonly onError: (error: unknown) => void;
}

export interface ControlPlane {
  readonly chain: RequestChain;
  readonly answers: CredentialAnswers;
  /** Requests of groups that other servers serve. */
  readonly aggregator: Aggregator;
  /** Creates the objects of every cluster (namespaces, roles) and starts the controllers. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function assembleControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { client, registry, faults } = options;
  const policy = livePolicy(client);
  const authenticator = tokenAuthenticator(options);
  const directory = serviceDirectory(options);
  const admission = new WebhookAdmission({
    api: client,
    caller: options.callWebhook === undefined ? new WebhookCaller() : { call: options.callWebhook, close: () => undefined },
    services: directory,
    otherVersions: ({ group, version, plural }) =>
      registry.all
        .filter((type) => type.group === group && type.plural === plural && type.version !== version)
        .map((type) => type.version),
  });
  const { frontProxy: certificate, onError, ownersAudit: audit } = options;
  const checked: Admission = audit === undefined ? admission : new OwnerReferenceCheck(admission, { policy, registry, audit });
  const aggregator = new Aggregator({ api: client, services: directory, certificate, onError });
  let controllers: Controllers | undefined;
  return {
    chain: {
      authenticator: new RequestAuthenticator(authenticator, policy),
      authorizer: new RbacAuthorizer(policy),
      admission: new EscalationCheck(checked, policy),
      faults,
    },
    aggregator,
    answers: {
      review: (kind, { user, object }) =>
        answerReview(kind, object, { user, policy, authenticator, now: new Date() }) as unknown as ApiObject,
      issueToken: ({ namespace, name, object }) => issueToken(options, { namespace, name, object }),
    },
    start: async () => {
      await furnish(client);
      await publishFrontProxy(client, options.frontProxy);
      controllers = await startControllers({
        ...options,
        api: client,
        types: () => registry.all,
        typeOf: (apiVersion, kind) => registry.ofKind(apiVersion, kind),
      });
    },
    stop: async () => {
      await controllers?.stop();
      await aggregator.stop();
      admission.stop();
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
  { namespace, name, object }: { readonly namespace: string; readonly name: string; readonly object: ApiObject },
): ApiObject {
  const account = options.client.get({ resource: 'serviceaccounts', namespace, name });
  if (account === undefined) throw notFound(serviceAccount, name);
  const context = { serviceAccount: account, signingKey: signingKeyOf(options), nowSeconds: nowSeconds() };
  return answerTokenRequest(object, context);
}

const serviceDirectory = ({ client, services }: ControlPlaneOptions): ServiceDirectory => ({
  endpointOf: ({ namespace, name }) => services()[`${namespace}/${name}`],
  exists: ({ namespace, name }) => client.get({ resource: 'services', namespace, name }) !== undefined,
});

/** The objects that every cluster has from the beginning. */
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

/** The ConfigMap in which aggregated servers read who may forward the names of users. */
async function publishFrontProxy(client: ApiClient, { authority }: ClientCertificate): Promise<void> {
  const path = { resource: 'configmaps', namespace: 'kube-system' };
  const name = 'extension-apiserver-authentication';
  if (client.get({ ...path, name }) !== undefined) return;
  await client.create(path, {
    metadata: { name },
    data: {
      'requestheader-allowed-names': JSON.stringify([frontProxyName]),
      'requestheader-client-ca-file': authority,
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    },
  });
}
