/** The DaemonSet of a WolConfig, as data: it includes everything that an API server would fill in. */
import { WOL_CONFIG_LABEL } from '@vmdhcp/ippool-api';
import {
  containerSpec,
  fieldVariable,
  IMAGE_USER,
  type KubernetesObject,
  objectNameWithin,
  type PortRange,
  podSpec,
  type RunningImage,
  toOwnerReference,
  unprivileged,
} from '@vmdhcp/kube-runtime';
import { nameOfPassword, type ReadWolConfig, type WakeAgentSpec } from '../config/read-wol-config.js';
import type { ConfigListening } from '../config/share-ports.js';

/** What the pods of agents of Wake-on-LAN are made of. */
export interface WakeDaemonSetSettings {
  readonly namespace: string;
  /** The image of agents whose WolConfig names none. */
  readonly image: string;
  /** Names of Secrets for pulling the image. */
  readonly imagePullSecrets: readonly string[];
  /** It needs no rights; undefined for `default` of the namespace. */
  readonly serviceAccountName?: string | undefined;
  /** `host:port` at which agents reach the managers. */
  readonly manager: string;
  /** The Secret with the certificate of the agents; undefined: they report in clear text. */
  readonly tlsSecret: string | undefined;
}

export interface WakeAgentParts {
  readonly config: ReadWolConfig;
  readonly listening: ConfigListening;
  /** TCP port of the node on which agents serve /healthz, /readyz and /metrics. */
  readonly httpPort: number;
  /** The image and user of agents that are kept. */
  readonly kept?: RunningImage | undefined;
}

/** Agents use the network of the node. */
export const WAKE_HTTP_PORTS: PortRange = { first: 18_420, count: 2_000 };
export const WAKE_AGENT_CONTAINER = 'agent';
export const WAKE_AGENT_APP = 'wol-agent';
/** The label selector of these DaemonSets. */
export const WAKE_AGENT_SELECTOR = `app=${WAKE_AGENT_APP}`;
/** Where agents find their certificate. */
const TLS_FOLDER = '/etc/vmdhcp/wake-on-lan';
const MOST_LABEL_CHARACTERS = 63;
const SECURITY_CONTEXT = unprivileged(['NET_RAW', 'NET_BIND_SERVICE']);
const GRACE_SECONDS = 10;
/**
 * No CPU limit, like DHCP agents: a flood of 100,000 packets a second uses half a processor, and a throttled agent misses
 * wake-ups.
 */
const DEFAULT_RESOURCES = { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '192Mi' } };
const LIVENESS = { initialDelaySeconds: 15, periodSeconds: 30, timeoutSeconds: 5, failureThreshold: 3 };
const READINESS = { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 };
const DEFAULT_UPDATE_STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };

/** The name of the DaemonSet of a WolConfig. */
export function wakeAgentName(config: string): string {
  return `${WAKE_AGENT_APP}-${labelValueOf(config)}`;
}

/** The name itself, if it is a valid label value. */
function labelValueOf(config: string): string {
  if (config.length <= MOST_LABEL_CHARACTERS) return config;
  return objectNameWithin(config, { suffix: '', of: config, isAmbiguous: true, most: MOST_LABEL_CHARACTERS });
}

/** The DaemonSet as it should be, with its owner. */
export function toWakeAgentDaemonSet(parts: WakeAgentParts, settings: WakeDaemonSetSettings): KubernetesObject {
  const { config } = parts;
  const { name, object } = config;
  const selected = { app: WAKE_AGENT_APP, [WOL_CONFIG_LABEL]: labelValueOf(name) };
  const labels = {
    ...selected,
    'app.kubernetes.io/name': WAKE_AGENT_APP,
    'app.kubernetes.io/component': 'agent',
    'app.kubernetes.io/part-of': 'kubevirt-wol',
    'app.kubernetes.io/managed-by': 'kubevirt-wol-controller',
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      namespace: settings.namespace,
      name: wakeAgentName(name),
      labels,
      ownerReferences: [toOwnerReference(object)],
    },
    spec: {
      revisionHistoryLimit: 2,
      selector: { matchLabels: selected },
      updateStrategy: updateStrategyOf(config.agent),
      template: { metadata: { labels }, spec: toPodSpec(parts, settings) },
    },
  };
}

function updateStrategyOf({ pod: { updateStrategy } }: WakeAgentSpec): Readonly<Record<string, unknown>> {
  if (updateStrategy?.type === 'OnDelete') return { type: 'OnDelete', rollingUpdate: undefined };
  return { ...DEFAULT_UPDATE_STRATEGY, ...(updateStrategy?.rollingUpdate && { rollingUpdate: updateStrategy.rollingUpdate }) };
}

function toPodSpec(parts: WakeAgentParts, settings: WakeDaemonSetSettings): Readonly<Record<string, unknown>> {
  const { agent } = parts.config;
  const { imagePullSecrets, serviceAccountName, tlsSecret } = settings;
  return podSpec(
    {
      ...{ serviceAccountName, imagePullSecrets, graceSeconds: GRACE_SECONDS, isOnHostNetwork: true },
      priorityClassName: agent.pod.priorityClassName || undefined,
    },
    {
      // Agents do not use the API server.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      // Otherwise the user of the container could not read the key of its certificate.
      securityContext: { fsGroup: IMAGE_USER },
      nodeSelector: Object.keys(agent.nodeSelector).length === 0 ? undefined : agent.nodeSelector,
      tolerations: agent.tolerations,
      volumes: tlsSecret === undefined ? undefined : [{ name: 'tls', secret: { secretName: tlsSecret, defaultMode: 0o440 } }],
      containers: [toContainer(parts, settings)],
    },
  );
}

function toContainer(parts: WakeAgentParts, settings: WakeDaemonSetSettings): object {
  const { config, httpPort, kept } = parts;
  const { pod, passwordSecret } = config.agent;
  return containerSpec(
    {
      ...{ name: WAKE_AGENT_CONTAINER, liveness: LIVENESS, readiness: READINESS },
      image: kept?.image ?? (pod.image || settings.image),
      imagePullPolicy: pod.imagePullPolicy,
      http: { name: 'http', port: httpPort, isOnHostNetwork: true },
      securityContext: kept?.securityContext ?? SECURITY_CONTEXT,
    },
    {
      args: toArguments(parts, settings),
      env: [
        fieldVariable('NODE_NAME', 'spec.nodeName'),
        fieldVariable('POD_NAMESPACE', 'metadata.namespace'),
        fieldVariable('POD_IP', 'status.podIP'),
        { name: 'WOLCONFIG_NAME', value: config.name },
        ...toPasswordVariables(passwordSecret),
      ],
      resources: pod.resources ?? DEFAULT_RESOURCES,
      volumeMounts: settings.tlsSecret === undefined ? undefined : [{ name: 'tls', mountPath: TLS_FOLDER, readOnly: true }],
    },
  );
}

/** The name of the password is not an option, because a kept image may not know it. */
function toPasswordVariables(passwordSecret: WakeAgentSpec['passwordSecret']): readonly object[] {
  if (passwordSecret === undefined) return [];
  return [
    { name: 'VMDHCP_WOL_PASSWORD', valueFrom: { secretKeyRef: passwordSecret } },
    { name: 'VMDHCP_WOL_PASSWORD_SECRET', value: nameOfPassword(passwordSecret) },
  ];
}

function toArguments({ config, listening, httpPort }: WakeAgentParts, { manager, tlsSecret }: WakeDaemonSetSettings): string[] {
  const { agent } = config;
  return [
    'wol',
    '--manager',
    manager,
    ...(tlsSecret === undefined ? ['--clear-text'] : ['--tls-dir', TLS_FOLDER]),
    '--node-name',
    '$(NODE_NAME)',
    ...listening.ports.flatMap((port) => ['--port', String(port)]),
    ...agent.interfaces.flatMap((pattern) => ['--interface', pattern]),
    ...(agent.isPromiscuous ? ['--promiscuous'] : []),
    ...(listening.hasFrames ? [] : ['--no-frames']),
    '--http',
    // Listens only on the address of the node that pods and the kubelet use.
    `$(POD_IP):${httpPort}`,
  ];
}
