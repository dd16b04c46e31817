/** A virtual machine that has its address, and variations of it. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { AddressChain, Finding } from './address-chain.js';
import type { ClientTraffic, TrafficPacket } from './agent-traffic.js';
import type { ChainObservation, Observed, ObservedTraffic } from './chain-observation.js';

export const MAC = '02:00:00:00:00:0a';
export const OTHER_MAC = '02:00:00:00:00:0b';
export const ADDRESS = '10.1.0.10';
export const NETWORK = 'default/net';
export const POOL = 'default/pool';
export const LEASE = 'vm-dhcp-agents/vm-dhcp-agent-1';
const NOW = '2026-01-01T00:01:00Z';

export interface Parts {
  readonly machine?: KubernetesObject | undefined;
  readonly instance?: KubernetesObject | undefined;
  readonly config?: KubernetesObject | undefined;
  readonly network?: KubernetesObject | undefined;
  readonly pool?: KubernetesObject | undefined;
  readonly lease?: KubernetesObject | undefined;
  readonly controller?: KubernetesObject | undefined;
  readonly events?: readonly KubernetesObject[];
  /** The MAC address of the interface `default`. */
  readonly traffic?: ObservedTraffic | undefined;
}

export function found(object: KubernetesObject | undefined): Observed {
  return object === undefined ? { kind: 'missing' } : { kind: 'found', object };
}

/** Everything that is not given has its normal value. */
export function observe(parts: Parts = {}): ChainObservation {
  const whole = {
    machine: machine(),
    instance: instance(),
    config: config(),
    network: network(),
    pool: pool(),
    lease: lease(),
    controller: controllerLease(),
    events: [],
    traffic: undefined,
    ...parts,
  };
  return {
    namespace: 'default',
    name: 'web',
    virtualMachine: found(whole.machine),
    instance: found(whole.instance),
    networkConfig: found(whole.config),
    networks: new Map([[NETWORK, found(whole.network)]]),
    pools: new Map([[NETWORK, { pool: found(whole.pool), lease: LEASE }]]),
    leases: new Map([[LEASE, found(whole.lease)]]),
    controller: found(whole.controller),
    traffic: whole.traffic === undefined ? new Map() : new Map([['default', whole.traffic]]),
    events: whole.events,
    nowMs: Date.parse(NOW),
  };
}

export interface MachineInterface {
  readonly name: string;
  readonly macAddress?: string;
  readonly network?: string;
  /** The fields of its binding. */
  readonly binding?: Readonly<Record<string, unknown>>;
}

const DEFAULT: readonly MachineInterface[] = [{ name: 'default', macAddress: MAC }];

export function template(interfaces = DEFAULT) {
  return {
    domain: {
      devices: {
        interfaces: interfaces.map(({ name, macAddress, binding }) => ({ name, ...binding, ...(macAddress && { macAddress }) })),
      },
    },
    networks: interfaces.map(({ name, network = NETWORK }) => ({ name, multus: { networkName: network } })),
  };
}

export function machine(annotations: Readonly<Record<string, string>> = {}, interfaces = DEFAULT): KubernetesObject {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: 'default', name: 'web', uid: 'vm-1', annotations },
    spec: { template: { spec: template(interfaces) } },
  };
}

export function instance(reported: object = { ipAddress: ADDRESS, infoSource: 'domain, guest-agent' }): KubernetesObject {
  return {
    metadata: { namespace: 'default', name: 'web' },
    spec: template(),
    status: { phase: 'Running', interfaces: [{ name: 'default', mac: MAC, ...reported }] },
  };
}

const ENTRY = { networkName: NETWORK, macAddress: MAC };

interface ConfigParts {
  readonly entries?: readonly object[];
  readonly status?: readonly object[];
  readonly conditions?: readonly object[];
  readonly spec?: object;
}

export function config({ entries, status, conditions, spec = {} }: ConfigParts = {}): KubernetesObject {
  return {
    apiVersion: 'network.harvesterhci.io/v1alpha1',
    kind: 'VirtualMachineNetworkConfig',
    metadata: { namespace: 'default', name: 'web', labels: { 'harvesterhci.io/vmName': 'web' } },
    spec: { vmName: 'web', networkConfigs: entries ?? [ENTRY], ...spec },
    status: {
      networkConfigs: status ?? [{ ...ENTRY, allocatedIPAddress: ADDRESS, state: 'Allocated' }],
      conditions: conditions ?? [{ type: 'Allocated', status: 'True' }],
    },
  };
}

/** Its interface has no address. */
export function pendingConfig(...conditions: readonly object[]): KubernetesObject {
  return config({ status: [{ ...ENTRY, state: 'Pending' }], conditions });
}

/** @param config - `spec.config`; absent if none. */
export function network(annotations: Readonly<Record<string, string>> = {}, config?: object): KubernetesObject {
  return {
    ...(config !== undefined && { spec: { config: JSON.stringify(config) } }),
    metadata: { namespace: 'default', name: 'net', annotations, labels: { 'network.harvesterhci.io/clusternetwork': 'mgmt' } },
  };
}

interface PoolParts {
  readonly allocated?: Readonly<Record<string, string>>;
  readonly conditions?: readonly object[];
  readonly ipv4Config?: object;
  readonly status?: object;
}

const SERVED = ['Registered', 'CacheReady', 'AgentReady'].map((type) => ({ type, status: 'True' }));

/** @param parts.conditions - replace the default conditions of the same types. */
export function pool({
  allocated = { [ADDRESS]: MAC },
  conditions = [],
  ipv4Config = {},
  status = {},
}: PoolParts = {}): KubernetesObject {
  const types = new Set(conditions.map((one) => (one as { readonly type: string }).type));
  const others = SERVED.filter(({ type }) => !types.has(type));
  const range = { start: '10.1.0.10', end: '10.1.0.99', exclude: ['10.1.0.20-10.1.0.29'] };
  return {
    metadata: { namespace: 'default', name: 'pool' },
    spec: { networkName: NETWORK, ipv4Config: { cidr: '10.1.0.0/24', serverIP: '10.1.0.2', pool: range, ...ipv4Config } },
    status: {
      ipv4: { allocated, used: 1, available: 79, ...status },
      agentDeploymentRef: { namespace: 'vm-dhcp-agents', name: 'vm-dhcp-agent-1' },
      conditions: [...others, ...conditions],
    },
  };
}

export function lease(report: object = { serving: true, version: '7' }, renewTime = NOW): KubernetesObject {
  return {
    metadata: {
      namespace: 'vm-dhcp-agents',
      name: 'vm-dhcp-agent-1',
      annotations: { 'network.harvesterhci.io/agent-report': JSON.stringify({ [POOL]: report }) },
    },
    spec: { holderIdentity: 'agent-1_x', leaseDurationSeconds: 3, renewTime },
  };
}

export function controllerLease(renewTime = NOW): KubernetesObject {
  return {
    metadata: { namespace: 'kube-system', name: 'vm-dhcp-controllers' },
    spec: { holderIdentity: 'controller-1', leaseDurationSeconds: 15, renewTime },
  };
}

export function event(kind: 'VirtualMachine' | 'IPPool', reason: string, message: string): KubernetesObject {
  const name = kind === 'IPPool' ? 'pool' : 'web';
  const involvedObject = { kind, namespace: 'default', name };
  return { metadata: { namespace: 'default', name: `${name}.1` }, involvedObject, reason, message } as KubernetesObject;
}

/** All findings, each with its link. */
export function findingsOf({ links, interfaces }: AddressChain): (Finding & { readonly link: string })[] {
  const all = [links, ...interfaces.map((one) => one.links)].flat();
  return all.flatMap(({ link, findings }) => findings.map((one) => ({ ...one, link })));
}

/** A packet of the client and its outcome, `DISCOVER OFFER`, `REQUEST !reason`; the last one came 12 seconds ago. */
export function packets(...texts: readonly string[]): ObservedTraffic {
  const nowMs = Date.parse(NOW);
  const last = texts.map((text, index): TrafficPacket => {
    const [received = '', became = ''] = text.split(' ');
    const isReason = became.startsWith('!');
    const answer = became === '' || isReason ? undefined : became === 'NAK' ? 'NAK' : `${became} ${ADDRESS}`;
    const atMs = nowMs - 12_000 - 1000 * (texts.length - 1 - index);
    return { atMs, received, from: '0.0.0.0', answer, reason: isReason ? became.slice(1) : undefined };
  });
  const messages = Object.fromEntries(
    [...Map.groupBy(last, ({ received }) => received)].map(([name, all]) => [name, all.length]),
  );
  const counts = { messages, answers: {}, unanswered: {}, lastAtMs: last.at(-1)?.atMs ?? 0 };
  const client: ClientTraffic = { macAddress: MAC, pool: POOL, interface: 'net1', ...counts, last };
  return {
    kind: 'found',
    pod: 'vm-dhcp-agents/agent-1',
    traffic: { agent: 'agent-1', sinceMs: nowMs - 300_000, places: [], clients: texts.length === 0 ? [] : [client] },
  };
}
