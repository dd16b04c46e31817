import { apiService } from './core/api-service.js';
import { configMap, secret, serviceAccount } from './core/config-map.js';
import { customResourceDefinition } from './core/custom-resource-definition.js';
import { coreEvent, event } from './core/event.js';
import { lease } from './core/lease.js';
import { namespace } from './core/namespace.js';
import { networkPolicy } from './core/network-policy.js';
import {
  clusterRole,
  clusterRoleBinding,
  controllerRevision,
  mutatingWebhookConfiguration,
  node,
  priorityClass,
  role,
  roleBinding,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  validatingWebhookConfiguration,
} from './core/other-kinds.js';
import { persistentVolumeClaim } from './core/persistent-volume-claim.js';
import { pod } from './core/pod.js';
import { podDisruptionBudget } from './core/pod-disruption-budget.js';
import { service } from './core/service.js';
import { daemonSet, deployment, replicaSet } from './core/workloads.js';
import type { ResourceType } from './resource-type.js';

/** The kinds that every simulator stores. */
export const builtInTypes: readonly ResourceType[] = [
  configMap,
  coreEvent,
  namespace,
  node,
  persistentVolumeClaim,
  pod,
  secret,
  serviceAccount,
  service,
  controllerRevision,
  daemonSet,
  deployment,
  replicaSet,
  event,
  role,
  roleBinding,
  clusterRole,
  clusterRoleBinding,
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  customResourceDefinition,
  apiService,
  lease,
  networkPolicy,
  podDisruptionBudget,
  priorityClass,
];
