/** What a migration determines once, before it changes anything. */

import { Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';

import { listIfServed } from '../cluster/list-if-served.js';
import type { MigrationObservation } from '../migration-plan/migration-observation.js';
import { type MigrationFacts, namespacesOfUpstreamAgents } from '../migration-plan/migration-problems.js';
import { describeRight, type NeededRight } from '../migration-plan/migration-rights.js';

const REVIEWS = '/apis/authorization.k8s.io/v1';
/** The right by which our controller removes Harvester's agents. */
const TAKE_OVER: NeededRight = { verb: 'delete', group: '', resource: 'pods' };

/** The missing rights of the user, for people. */
export async function missingRights(connection: ApiTransport, needed: readonly NeededRight[]): Promise<string[]> {
  const answers = await Promise.all(
    needed.map(async (right) => ((await isAllowed(connection, toAttributes(right))) ? [] : [describeRight(right)])),
  );
  return answers.flat();
}

export async function readMigrationFacts(connection: ApiTransport, observed: MigrationObservation): Promise<MigrationFacts> {
  const list = (resource: (typeof Resource)[keyof typeof Resource]) =>
    listIfServed(new ApiObjectClient<KubernetesObject>(connection, resource));
  const [ofController, networkConfigs, networks] = await Promise.all([
    missingControllerRights(connection, observed),
    list(Resource.networkConfigs),
    list(Resource.networks),
  ]);
  return { networkConfigs, networks, missingControllerRights: ofController };
}

async function missingControllerRights(connection: ApiTransport, observed: MigrationObservation): Promise<string[]> {
  const own = observed.workloads.find(({ role }) => role === 'own-controller')?.deployment;
  if (own === undefined) return [];
  const account = readText(own.spec, 'template', 'spec', 'serviceAccountName') ?? 'default';
  const user = `system:serviceaccount:${own.metadata.namespace}:${account}`;
  const answers = await Promise.all(
    namespacesOfUpstreamAgents(observed).map(async (namespace) => {
      const may = await isAllowed(connection, { ...toAttributes(TAKE_OVER), namespace }, user);
      return may ? [] : [`${describeRight(TAKE_OVER)} in namespace ${namespace}`];
    }),
  );
  return answers.flat();
}

function toAttributes({ verb, group, resource, subresource }: NeededRight): Readonly<Record<string, string>> {
  return { verb, group, resource, ...(subresource !== undefined && { subresource }) };
}

/** @param user - undefined for the user of the connection. */
async function isAllowed(
  connection: ApiTransport,
  resourceAttributes: Readonly<Record<string, string>>,
  user?: string,
): Promise<boolean> {
  const [kind, plural] =
    user === undefined
      ? ['SelfSubjectAccessReview', 'selfsubjectaccessreviews']
      : ['SubjectAccessReview', 'subjectaccessreviews'];
  const spec = { resourceAttributes, ...(user !== undefined && { user, groups: groupsOf(user) }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
  const answer = await connection.request({ method: 'POST', path: `${REVIEWS}/${plural}`, body });
  return readField(answer, 'status', 'allowed') === true;
}

/** The user name of a ServiceAccount in the API server. */
function groupsOf(user: string): string[] {
  const [, , namespace = ''] = user.split(':');
  return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
}
