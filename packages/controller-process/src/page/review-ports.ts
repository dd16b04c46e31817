/** The decisions of the API server about a token and its user. */
import { createHash } from 'node:crypto';
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { isRecord, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { type ApiConnection, ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import type { ReviewedUser, ReviewPorts, SectionRight } from '@vmdhcp/status-page';

const TOKEN_REVIEWS: ApiResource = { group: 'authentication.k8s.io', version: 'v1', plural: 'tokenreviews', namespaced: false };
const ACCESS_REVIEWS: ApiResource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

/** @param audiences - of accepted tokens; empty for the API server's own. */
export function reviewPorts(
  connection: ApiConnection,
  audiences: readonly string[],
): Pick<ReviewPorts, 'reviewToken' | 'reviewAccess' | 'digest'> {
  return {
    reviewToken: (token) => reviewToken(connection, token, audiences),
    reviewAccess: (user, right) => reviewAccess(connection, user, right),
    digest: (token) => createHash('sha256').update(token).digest('base64url'),
  };
}

async function reviewToken(
  connection: ApiConnection,
  token: string,
  audiences: readonly string[],
): Promise<ReviewedUser | undefined> {
  const spec = { token, ...(audiences.length > 0 && { audiences }) };
  const { status } = await create(connection, TOKEN_REVIEWS, { kind: 'TokenReview', spec });
  if (readField(status, 'authenticated') !== true) return undefined;
  // An authenticator without audiences accepts a token for the API server, and names none.
  const accepted = readList(status, 'audiences');
  if (audiences.length > 0 && !audiences.some((audience) => accepted.includes(audience))) return undefined;
  const username = readText(status, 'user', 'username');
  if (username === undefined || username === '') return undefined;
  const [uid, extra] = [readText(status, 'user', 'uid'), readField(status, 'user', 'extra')];
  return {
    username,
    ...(uid !== undefined && { uid }),
    groups: readList(status, 'user', 'groups').filter((group) => typeof group === 'string'),
    ...(isRecord(extra) && { extra: extra as Readonly<Record<string, readonly string[]>> }),
  };
}

async function reviewAccess(connection: ApiConnection, user: ReviewedUser, right: SectionRight): Promise<boolean> {
  const { username, ...others } = user;
  const spec = { ...others, user: username, resourceAttributes: { ...right } };
  const { status } = await create(connection, ACCESS_REVIEWS, { kind: 'SubjectAccessReview', spec });
  return readField(status, 'allowed') === true && readField(status, 'denied') !== true;
}

interface Review {
  readonly kind: string;
  readonly spec: unknown;
}

/** @throws Error if there is no decision. */
async function create(connection: ApiConnection, resource: ApiResource, { kind, spec }: Review): Promise<KubernetesObject> {
  const client = new ApiObjectClient<KubernetesObject>(connection, resource);
  const apiVersion = `${resource.group}/${resource.version}`;
  // Reviews have no name.
  const metadata = {} as KubernetesObject['metadata'];
  const result = await client.create({ apiVersion, kind, metadata, spec } as KubernetesObject);
  if (result.ok) return result.object;
  throw new Error(
    `the API server does not review: ${result.message}; the controller needs the right to create ${resource.plural}`,
  );
}
