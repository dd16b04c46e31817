/** corev1.PodSpec: only fields that the project's own workloads and kubectl use have a shape. */
import { always, anything, flag, int32, int64, intOrString, list, map, pointer, quantity, struct, text } from '../go-type.js';
import { labelSelector, objectMeta } from '../object-meta.js';

const keyToPath = struct('KeyToPath', { key: always(text), path: always(text), mode: pointer(int32) });
const fieldRef = struct('ObjectFieldSelector', { apiVersion: text, fieldPath: always(text) });
const resourceFieldRef = struct('ResourceFieldSelector', { containerName: text, resource: always(text), divisor: quantity });
const configMapProjection = { name: text, items: list(keyToPath), optional: pointer(flag) };
const downwardAPIFile = struct('DownwardAPIVolumeFile', {
  path: always(text),
  fieldRef,
  resourceFieldRef,
  mode: pointer(int32),
});

const volume = struct('Volume', {
  name: always(text),
  hostPath: struct('HostPathVolumeSource', { path: always(text), type: pointer(text) }),
  emptyDir: struct('EmptyDirVolumeSource', { medium: text, sizeLimit: quantity }),
  secret: struct('SecretVolumeSource', {
    secretName: text,
    items: list(keyToPath),
    defaultMode: pointer(int32),
    optional: pointer(flag),
  }),
  persistentVolumeClaim: anything,
  downwardAPI: struct('DownwardAPIVolumeSource', { items: list(downwardAPIFile), defaultMode: pointer(int32) }),
  configMap: struct('ConfigMapVolumeSource', {
    name: text,
    items: list(keyToPath),
    defaultMode: pointer(int32),
    optional: pointer(flag),
  }),
  csi: anything,
  nfs: anything,
  projected: struct('ProjectedVolumeSource', {
    sources: list(
      struct('VolumeProjection', {
        secret: struct('SecretProjection', configMapProjection),
        downwardAPI: struct('DownwardAPIProjection', { items: list(downwardAPIFile) }),
        configMap: struct('ConfigMapProjection', configMapProjection),
        serviceAccountToken: struct('ServiceAccountTokenProjection', {
          audience: text,
          expirationSeconds: pointer(int64),
          path: always(text),
        }),
      }),
    ),
    defaultMode: pointer(int32),
  }),
  ephemeral: anything,
  image: anything,
});

const probe = struct('Probe', {
  exec: struct('ExecAction', { command: list(text) }),
  httpGet: struct('HTTPGetAction', {
    path: text,
    port: always(intOrString),
    host: text,
    scheme: text,
    httpHeaders: list(struct('HTTPHeader', { name: always(text), value: always(text) })),
  }),
  tcpSocket: struct('TCPSocketAction', { port: always(intOrString), host: text }),
  grpc: struct('GRPCAction', { port: always(int32), service: pointer(text) }),
  initialDelaySeconds: int32,
  timeoutSeconds: int32,
  periodSeconds: int32,
  successThreshold: int32,
  failureThreshold: int32,
  terminationGracePeriodSeconds: pointer(int64),
});

const keySelector = (name: string) => struct(name, { name: text, key: always(text), optional: pointer(flag) });

const envVar = struct('EnvVar', {
  name: always(text),
  value: text,
  valueFrom: struct('EnvVarSource', {
    fieldRef,
    resourceFieldRef,
    configMapKeyRef: keySelector('ConfigMapKeySelector'),
    secretKeyRef: keySelector('SecretKeySelector'),
  }),
});

export const resourceRequirements = struct('ResourceRequirements', {
  limits: map(quantity),
  requests: map(quantity),
  claims: list(anything),
});

const seccompProfile = struct('SeccompProfile', { type: always(text), localhostProfile: pointer(text) });

const containerFields = {
  name: always(text),
  image: text,
  command: list(text),
  args: list(text),
  workingDir: text,
  ports: list(
    struct('ContainerPort', { name: text, hostPort: int32, containerPort: always(int32), protocol: text, hostIP: text }),
  ),
  envFrom: list(anything),
  env: list(envVar),
  resources: always(resourceRequirements),
  resizePolicy: list(anything),
  restartPolicy: pointer(text),
  volumeMounts: list(
    struct('VolumeMount', {
      name: always(text),
      readOnly: flag,
      recursiveReadOnly: pointer(text),
      mountPath: always(text),
      subPath: text,
      mountPropagation: pointer(text),
      subPathExpr: text,
    }),
  ),
  volumeDevices: list(anything),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: anything,
  terminationMessagePath: text,
  terminationMessagePolicy: text,
  imagePullPolicy: text,
  securityContext: struct('SecurityContext', {
    capabilities: struct('Capabilities', { add: list(text), drop: list(text) }),
    privileged: pointer(flag),
    seLinuxOptions: anything,
    windowsOptions: anything,
    runAsUser: pointer(int64),
    runAsGroup: pointer(int64),
    runAsNonRoot: pointer(flag),
    readOnlyRootFilesystem: pointer(flag),
    allowPrivilegeEscalation: pointer(flag),
    procMount: pointer(text),
    seccompProfile,
    appArmorProfile: anything,
  }),
  stdin: flag,
  stdinOnce: flag,
  tty: flag,
};
const container = struct('Container', containerFields);

const toleration = struct('Toleration', {
  key: text,
  operator: text,
  value: text,
  effect: text,
  tolerationSeconds: pointer(int64),
});

const podSecurityContext = struct('PodSecurityContext', {
  seLinuxOptions: anything,
  windowsOptions: anything,
  runAsUser: pointer(int64),
  runAsGroup: pointer(int64),
  runAsNonRoot: pointer(flag),
  supplementalGroups: list(int64),
  supplementalGroupsPolicy: pointer(text),
  fsGroup: pointer(int64),
  sysctls: list(struct('Sysctl', { name: always(text), value: always(text) })),
  fsGroupChangePolicy: pointer(text),
  seccompProfile,
  appArmorProfile: anything,
  seLinuxChangePolicy: pointer(text),
});

const topologySpreadConstraint = struct('TopologySpreadConstraint', {
  maxSkew: always(int32),
  topologyKey: always(text),
  whenUnsatisfiable: always(text),
  labelSelector,
  minDomains: pointer(int32),
  nodeAffinityPolicy: pointer(text),
  nodeTaintsPolicy: pointer(text),
  matchLabelKeys: list(text),
});

export const podSpec = struct('PodSpec', {
  volumes: list(volume),
  initContainers: list(container),
  containers: always(list(container)),
  ephemeralContainers: list(anything),
  restartPolicy: text,
  terminationGracePeriodSeconds: pointer(int64),
  activeDeadlineSeconds: pointer(int64),
  dnsPolicy: text,
  nodeSelector: map(text),
  serviceAccountName: text,
  serviceAccount: text,
  automountServiceAccountToken: pointer(flag),
  nodeName: text,
  hostNetwork: flag,
  hostPID: flag,
  hostIPC: flag,
  shareProcessNamespace: pointer(flag),
  securityContext: podSecurityContext,
  imagePullSecrets: list(struct('LocalObjectReference', { name: text })),
  hostname: text,
  subdomain: text,
  affinity: anything,
  schedulerName: text,
  tolerations: list(toleration),
  hostAliases: list(anything),
  priorityClassName: text,
  priority: pointer(int32),
  dnsConfig: anything,
  readinessGates: list(anything),
  runtimeClassName: pointer(text),
  enableServiceLinks: pointer(flag),
  preemptionPolicy: pointer(text),
  overhead: map(quantity),
  topologySpreadConstraints: list(topologySpreadConstraint),
  setHostnameAsFQDN: pointer(flag),
  os: anything,
  hostUsers: pointer(flag),
  schedulingGates: list(anything),
  resourceClaims: list(anything),
  resources: anything,
  hostnameOverride: pointer(text),
});

export const podTemplateSpec = struct('PodTemplateSpec', { metadata: objectMeta, spec: podSpec });
