/** Which rights a ServiceAccount has by its Roles, and which of them its requests used. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { AuditedRequest } from '@vmdhcp/kube-simulator';
import type { ClusterAccess } from './cluster-access.js';

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

/** One verb on one resource. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `ippools/status`. */
  readonly resource: string;
  /** Empty: in all namespaces, or of a kind without namespaces. */
  readonly namespace: string;
  /** Empty: whatever its name is. */
  readonly name: string;
}

export interface RightsInUse {
  /** Rights that no request used. */
  readonly unused: readonly string[];
  /** Requests that were refused for lack of a right. */
  readonly refused: readonly string[];
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

type Role = KubernetesObject & { readonly rules?: readonly Rule[] };
type Binding = KubernetesObject & {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
};

const KINDS = ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'];

/** The rights that are bound to the ServiceAccount now. */
export async function rightsOf(admin: ClusterAccess, account: Account): Promise<readonly Right[]> {
  const listed = await Promise.all(
    KINDS.map(async (kind) => (await admin.list(kind)).map((object): KubernetesObject => ({ ...object, kind }))),
  );
  return rightsIn(listed.flat(), account);
}

/** The rights that are bound to the ServiceAccount by these objects. */
export function rightsIn(objects: readonly KubernetesObject[], account: Account): readonly Right[] {
  const [roles, clusterRoles, bindings = [], clusterBindings = []] = KINDS.map((kind) =>
    objects.filter((object) => object.kind === kind),
  );
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`];
  const bound = ([...bindings, ...clusterBindings] as Binding[]).filter(({ subjects = [] }) =>
    subjects.some(({ kind, name, namespace }) =>
      kind === 'Group'
        ? groups.includes(name)
        : kind === 'ServiceAccount' && name === account.name && namespace === account.namespace,
    ),
  );
  return bound.flatMap(({ roleRef, metadata: { namespace = '' } }) => {
    const among = (roleRef.kind === 'Role' ? roles : clusterRoles) as Role[];
    const isMeant = ({ metadata }: Role) =>
      metadata.name === roleRef.name && (roleRef.kind === 'ClusterRole' || metadata.namespace === namespace);
    return (among.find(isMeant)?.rules ?? []).flatMap((rule) => rightsOfRule(rule, namespace));
  });
}

function rightsOfRule({ apiGroups = [], resources = [], resourceNames = [], verbs }: Rule, namespace: string): Right[] {
  const names = resourceNames.length === 0 ? [''] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => names.flatMap((name) => verbs.map((verb) => ({ verb, group, resource, namespace, name })))),
  );
}

/** Compares the granted rights with the requests. */
export function compareRights(granted: readonly Right[], requests: readonly AuditedRequest[], account: Account): RightsInUse {
  const own = requests.filter(({ user }) => user === `system:serviceaccount:${account.namespace}:${account.name}`);
  const used = own.filter(({ allowed }) => allowed);
  return {
    unused: granted.filter((right) => !used.some((request) => covers(right, rightOf(request)))).map(describeRight),
    refused: own.filter(({ allowed }) => !allowed).map((request) => describeRight(rightOf(request))),
  };
}

/** The right that a request needs. */
function rightOf({ verb, group, resource, subresource, namespace, name }: AuditedRequest): Right {
  return { verb, group, resource: subresource === '' ? resource : `${resource}/${subresource}`, namespace, name };
}

/** True if a client with the right may do what needs the other one. */
export function covers(right: Right, needed: Right): boolean {
  const isSame = right.verb === needed.verb && right.group === needed.group && right.resource === needed.resource;
  const isThere = right.namespace === '' || right.namespace === needed.namespace;
  return isSame && isThere && (right.name === '' || right.name === needed.name);
}

/** `patch secrets vm-dhcp-webhook-ca in harvester-system` */
export function describeRight({ verb, group, resource, namespace, name }: Right): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return [verb, what, name, namespace && `in ${namespace}`].filter(Boolean).join(' ');
}
