/** The metrics of the controller: upstream's gauges, and those of its own work. */

import { type KubernetesObject, keyOf, readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { RequestObserver } from '@vmdhcp/kube-runtime/node';
import type { DhcpController, ReconciledKey } from '@vmdhcp/reconciler';
import { ReadGauge, type Series } from '@vmdhcp/service-process/metrics';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AuditCounters, createAuditCounters, describeAudit } from './audit-metrics.js';

/** One reconcile of one object, of any part of the process. */
export interface ReconciledWork extends Pick<ReconciledKey, 'result' | 'durationMs'> {
  /** The value of the label. */
  readonly kind: string;
}

/** The metrics of a controller's process, and how they are counted. */
export interface ControllerMetrics {
  readonly registry: Registry;
  readonly onReconciled: (work: ReconciledWork) => void;
  readonly onError: (kind: string) => void;
  readonly onRequest: RequestObserver;
  readonly audit: AuditCounters;
  /** Called when the gauges may show the state of this controller. */
  readonly follow: (controller: DhcpController, isLeading: () => boolean) => void;
}

/** Creates the metrics of the controller. */
export function createControllerMetrics(): ControllerMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'vmdhcpcontroller_reconcile_duration_seconds',
    help: 'Duration of one reconcile of one object.',
    labelNames: ['kind', 'result'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  });
  const errors = new Counter({
    name: 'vmdhcpcontroller_reconcile_errors_total',
    help: 'Reconciles that failed and are retried, and lists and watches that failed.',
    labelNames: ['kind'],
    registers,
  });
  const requests = new Counter({
    name: 'vmdhcpcontroller_api_requests_total',
    help: 'Requests to the API server; code 0: no response.',
    labelNames: ['method', 'resource', 'code'],
    registers,
  });
  const latency = new Histogram({
    name: 'vmdhcpcontroller_api_request_duration_seconds',
    help: 'Duration of requests to the API server that got a response, without watches.',
    labelNames: ['method', 'resource'],
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 10],
    registers,
  });
  return {
    registry,
    onReconciled: ({ kind, result, durationMs }) => duration.observe({ kind, result: result.kind }, durationMs / 1000),
    onError: (kind) => errors.inc({ kind }),
    audit: createAuditCounters(registers),
    onRequest: ({ method, path, status, durationMs }) => {
      const resource = resourceOf(path);
      requests.inc({ method, resource, code: status });
      if (status !== 0) latency.observe({ method, resource }, durationMs / 1000);
    },
    follow: (controller, isLeading) => describeCluster(controller, isLeading, registers),
  };
}

function describeCluster(controller: DhcpController, isLeading: () => boolean, registers: Registry[]): void {
  new Gauge({
    name: 'vmdhcpcontroller_leading',
    help: '1 if this replica is the leader, else 0.',
    registers,
    collect() {
      this.set(isLeading() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_queue_depth',
    help: 'Objects that wait to be reconciled.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, depth] of Object.entries(controller.depths())) this.set({ kind }, depth);
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_queue_oldest_seconds',
    help: 'How long the object that has waited longest has waited to be reconciled; 0 if none waits.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, waitedMs] of Object.entries(controller.oldestWaitsMs())) this.set({ kind }, waitedMs / 1000);
    },
  });
  describePools(controller, registers);
  describeAgents(controller, registers);
  describeAudit(() => controller.auditFacts(), registers);
  new ReadGauge({
    name: 'vmdhcpcontroller_vmnetcfg_status',
    help: '1 for each interface of a VirtualMachineNetworkConfig, with its address, its state, and the reason where it has no address.',
    labelNames: ['vmnetcfg', 'network', 'mac', 'ip', 'state', 'reason'],
    registers,
    read: () => interfacesOf(controller),
  });
}

type InterfaceSeries = Series<'vmnetcfg' | 'network' | 'mac' | 'ip' | 'state' | 'reason'>;

function* interfacesOf(controller: DhcpController): Generator<InterfaceSeries> {
  for (const { metadata, status } of controller.caches.networkConfigs.values()) {
    const vmnetcfg = `${metadata.namespace}/${metadata.name}`;
    const why = readConditions(status).find(({ type }) => type === 'Allocated')?.reason ?? '';
    const all = readList(status, 'networkConfigs').map((entry) => ({ labels: labelsOf(vmnetcfg, entry, why), value: 1 }));
    yield* all.length < 2 ? all : new Map(all.map((series) => [JSON.stringify(series), series])).values();
  }
}

function labelsOf(vmnetcfg: string, entry: unknown, why: string): InterfaceSeries['labels'] {
  const text = (name: string) => readText(entry, name) ?? '';
  const [network, mac, state] = [text('networkName'), text('macAddress'), text('state')];
  // It remembers the address that it had last, and does not have it.
  const ip = state === 'Pending' ? '' : text('allocatedIPAddress');
  return { vmnetcfg, network, mac, ip, state, reason: state === 'Allocated' ? '' : why };
}

/** How many addresses of each kind an IPPool has; undefined if its status does not say. */
const POOL_GAUGES = {
  used: {
    help: 'Addresses of an IPPool that are in use.',
    read: ({ status }: KubernetesObject) => readField(status, 'ipv4', 'used'),
  },
  available: {
    help: 'Addresses of an IPPool that are free.',
    read: ({ status }: KubernetesObject) => readField(status, 'ipv4', 'available'),
  },
  quarantined: {
    help: 'Addresses of an IPPool that no client gets for some time, because another machine uses them.',
    read: ({ status }: KubernetesObject) => Object.keys(readField(status, 'ipv4', 'quarantined') ?? {}).length,
  },
} as const;

function describePools(controller: DhcpController, registers: Registry[]): void {
  const pools = () => controller.caches.ipPools.values();
  for (const [field, { help, read }] of Object.entries(POOL_GAUGES)) {
    new ReadGauge({
      name: `vmdhcpcontroller_ippool_${field}`,
      help,
      labelNames: ['ippool', 'cidr', 'network'],
      registers,
      read: () => countsOf(pools(), read),
    });
  }
  new ReadGauge({
    name: 'vmdhcpcontroller_ippool_condition',
    help: 'Conditions of an IPPool: 1 if the condition is True, else 0. The reason is that of the condition.',
    labelNames: ['ippool', 'condition', 'reason'],
    registers,
    read: () => conditionsOf(pools()),
  });
}

function* countsOf(
  pools: Iterable<KubernetesObject>,
  read: (pool: KubernetesObject) => unknown,
): Generator<Series<'ippool' | 'cidr' | 'network'>> {
  for (const pool of pools) {
    const value = read(pool);
    if (typeof value !== 'number') continue;
    const [cidr, network] = [readText(pool.spec, 'ipv4Config', 'cidr') ?? '', readText(pool.spec, 'networkName') ?? ''];
    yield { labels: { ippool: keyOf(pool), cidr, network }, value };
  }
}

function* conditionsOf(pools: Iterable<KubernetesObject>): Generator<Series<'ippool' | 'condition' | 'reason'>> {
  for (const pool of pools)
    for (const { type: condition, status, reason = '' } of readConditions(pool.status))
      yield { labels: { ippool: keyOf(pool), condition, reason }, value: status === 'True' ? 1 : 0 };
}

function describeAgents(controller: DhcpController, registers: Registry[]): void {
  new Gauge({
    name: 'vmdhcpcontroller_agent_replicas',
    help: 'Pods of a group of agents by state: desired (as its Deployment wants), or ready.',
    labelNames: ['group', 'state'],
    registers,
    collect() {
      this.reset();
      for (const [group, replicas] of controller.agentReplicas())
        for (const [state, count] of Object.entries(replicas)) this.set({ group, state }, count);
    },
  });
}

/** `ippools/status` of `/apis/group/version/namespaces/default/ippools/net-48/status`. */
function resourceOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [first = '', , ...within] = rest;
  const [resource, , subresource] = first === 'namespaces' && within.length > 0 ? within : [first, undefined, rest[2]];
  return subresource === undefined ? (resource ?? '') : `${resource}/${subresource}`;
}
