/**
 * Fields that the pods of agents must not have: they would reach more of the node, run other programs, or run elsewhere. Specified as
 * absent, so that what was added by hand is removed again. A field of later versions of Kubernetes is not known here and stays.
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
