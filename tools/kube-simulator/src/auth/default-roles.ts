import type { JsonObject } from '../api-object.js';

const rbac = 'rbac.authorization.k8s.io';
const defaultLabels = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };

const clusterRole = (name: string, rules: readonly JsonObject[]) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRole',
  metadata: { name, labels: defaultLabels },
  rules,
});

const clusterRoleBinding = (name: string, groups: readonly string[]) => ({
  apiVersion: `${rbac}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name, labels: defaultLabels },
  roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
  subjects: groups.map((group) => ({ apiGroup: rbac, kind: 'Group', name: group })),
});

/** The roles and bindings of every new cluster that requests to the simulator depend on. */
export const defaultRoles = [
  clusterRole('cluster-admin', [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]),
  clusterRole('system:basic-user', [
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
    { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
  ]),
  clusterRole('system:discovery', [
    {
      verbs: ['get'],
      nonResourceURLs: ['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz'],
    },
    { verbs: ['get'], nonResourceURLs: ['/version', '/version/'] },
  ]),
  clusterRole('system:public-info-viewer', [
    { verbs: ['get'], nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'] },
  ]),
  clusterRoleBinding('cluster-admin', ['system:masters']),
  clusterRoleBinding('system:basic-user', ['system:authenticated']),
  clusterRoleBinding('system:discovery', ['system:authenticated']),
  clusterRoleBinding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
];
