/** What the controller tells Prometheus: upstream's gauges, and how its own work goes. */

import { readConditions, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { RequestObserver } from '@vmdhcp/kube-runtime/node';
import type { DhcpController, ReconciledKey } from '@vmdhcp/reconciler';
import { ReadGauge, type Series } from '@vmdhcp/service-process/metrics';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface ControllerMetrics {
  readonly registry: Registry;
  readonly onReconciled: (work: ReconciledKey) => void;
  readonly onError: (kind: string) => void;
  readonly onRequest: RequestObserver;
  /** From here on the gauges tell what this controller knows. */
  readonly follow: (controller: DhcpController, isLeading: () => boolean) => void;
}

export function createMetrics(): ControllerMetrics {
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
    help: 'Requests to the API server; code 0: without an answer.',
    labelNames: ['method', 'resource', 'code'],
    registers,
  });
  return {
    registry,
    onReconciled: ({ kind, result, durationMs }) => duration.observe({ kind, result: result.kind }, durationMs / 1000),
    onError: (kind) => errors.inc({ kind }),
    onRequest: ({ method, path, status }) => requests.inc({ method, resource: resourceOf(path), code: status }),
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
  for (const field of ['used', 'available'] as const) describePools(controller, field, registers);
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
  const [network, mac, ip, state] = [text('networkName'), text('macAddress'), text('allocatedIPAddress'), text('state')];
  return { vmnetcfg, network, mac, ip, state, reason: state === 'Allocated' ? '' : why };
}

function describePools(controller: DhcpController, field: 'used' | 'available', registers: Registry[]): void {
  new ReadGauge({
    name: `vmdhcpcontroller_ippool_${field}`,
    help: field === 'used' ? 'Addresses of an IPPool that are in use.' : 'Addresses of an IPPool that are free.',
    labelNames: ['ippool', 'cidr', 'network'],
    registers,
    read: () => countsOf(controller, field),
  });
}

function* countsOf(controller: DhcpController, field: 'used' | 'available'): Generator<Series<'ippool' | 'cidr' | 'network'>> {
  for (const { metadata, spec, status } of controller.caches.ipPools.values()) {
    const value = readField(status, 'ipv4', field);
    if (typeof value !== 'number') continue;
    const ippool = `${metadata.namespace}/${metadata.name}`;
    const [cidr, network] = [readText(spec, 'ipv4Config', 'cidr') ?? '', readText(spec, 'networkName') ?? ''];
    yield { labels: { ippool, cidr, network }, value };
  }
}

/** `ippools/status` of `/apis/group/version/namespaces/default/ippools/net-48/status`. */
function resourceOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const [first = '', , ...within] = rest;
  const [resource, , subresource] = first === 'namespaces' && within.length > 0 ? within : [first, undefined, rest[2]];
  return subresource === undefined ? (resource ?? '') : `${resource}/${subresource}`;
}
