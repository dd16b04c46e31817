/**
 * Fields that the pods of agents must not have: with them they could reach more of the node, run other programs, or run elsewhere. They are specified
 * as absent, so that manual additions are removed again. Fields of later versions of Kubernetes are unknown here and stay.
 */

/** Fields of the pod; a pod that needs one of them sets it after these. */
export const ABSENT_POD_FIELDS = {
  hostNetwork: undefined,
  hostPID: undefined,
  hostIPC: undefined,
  shareProcessNamespace: undefined,
  initContainers: undefined,
  volumes: undefined,
  nodeSelector: undefined,
  nodeName: undefined,
  hostAliases: undefined,
  dnsConfig: undefined,
  schedulingGates: undefined,
  readinessGates: undefined,
  resourceClaims: undefined,
};

/** Fields of the container; one that needs one of them sets it after these. */
export const ABSENT_CONTAINER_FIELDS = {
  command: undefined,
  envFrom: undefined,
  lifecycle: undefined,
  startupProbe: undefined,
  volumeMounts: undefined,
};
