import { GROUP } from '@vmdhcp/ippool-api';
import type { MigrationDirection } from './migration-observation.js';

/** One access review: whether this user may do that. */
export interface NeededRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
}

const READ = ['list'];
const RBAC = 'rbac.authorization.k8s.io';
const NEEDED: Readonly<
  Record<MigrationDirection, readonly (readonly [verbs: readonly string[], group: string, resource: string])[]>
> = {
  forward: [
    [['list', 'patch'], 'harvesterhci.io', 'addons'],
    [['list', 'patch'], 'apps', 'deployments'],
    [READ, '', 'pods'],
    [READ, '', 'services'],
    [READ, '', 'serviceaccounts'],
    [READ, RBAC, 'roles'],
    [READ, RBAC, 'rolebindings'],
    [READ, RBAC, 'clusterroles'],
    [READ, RBAC, 'clusterrolebindings'],
    [['create'], 'authorization.k8s.io', 'subjectaccessreviews'],
    [['list', 'patch'], 'coordination.k8s.io', 'leases'],
    [READ, GROUP, 'ippools'],
    [READ, GROUP, 'virtualmachinenetworkconfigs'],
    [READ, 'k8s.cni.cncf.io', 'network-attachment-definitions'],
    [['get', 'list', 'create', 'patch', 'update'], 'apiextensions.k8s.io', 'customresourcedefinitions'],
    [['list', 'delete'], 'admissionregistration.k8s.io', 'mutatingwebhookconfigurations'],
    [['list', 'delete'], 'admissionregistration.k8s.io', 'validatingwebhookconfigurations'],
  ],
  back: [
    [['list', 'patch'], 'harvesterhci.io', 'addons'],
    [['list', 'patch', 'delete'], 'apps', 'deployments'],
    [READ, '', 'pods'],
    [['list', 'patch', 'delete'], 'coordination.k8s.io', 'leases'],
    [['list', 'delete'], '', 'serviceaccounts'],
    [['list', 'delete'], RBAC, 'roles'],
    [['list', 'delete'], RBAC, 'rolebindings'],
    [READ, GROUP, 'ippools'],
    [['patch'], GROUP, 'ippools/status'],
    [READ, GROUP, 'virtualmachinenetworkconfigs'],
    [READ, 'k8s.cni.cncf.io', 'network-attachment-definitions'],
    [['create'], 'authorization.k8s.io', 'subjectaccessreviews'],
    [['get', 'list', 'patch', 'update'], 'apiextensions.k8s.io', 'customresourcedefinitions'],
    [['list', 'delete'], 'admissionregistration.k8s.io', 'mutatingwebhookconfigurations'],
    [['list', 'delete'], 'admissionregistration.k8s.io', 'validatingwebhookconfigurations'],
  ],
};

/** The rights that a migration needs, everywhere. */
export function neededRights(direction: MigrationDirection): NeededRight[] {
  return NEEDED[direction].flatMap(([verbs, group, path]) => {
    const [resource = '', subresource] = path.split('/', 2);
    return verbs.map((verb) => ({ verb, group, resource, ...(subresource !== undefined && { subresource }) }));
  });
}

/** `patch ippools/status.network.harvesterhci.io`, for people. */
export function describeRight({ verb, group, resource, subresource }: NeededRight): string {
  const path = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${group === '' ? path : `${path}.${group}`}`;
}
