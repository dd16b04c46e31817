import { Resource } from '@vmdhcp/ippool-api/resources';
import { type ApiResource, type EventObject, type KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { type AuditFacts, DhcpController, type DhcpControllerSettings } from '@vmdhcp/reconciler';
import { expect, it } from 'vitest';
import { cacheDumpPages } from './cache-dumps.js';
import { createControllerMetrics } from './metrics.js';

const POOL: KubernetesObject = {
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'IPPool',
  metadata: { namespace: 'default', name: 'net-48' },
  spec: {
    networkName: 'default/vlan-48',
    ipv4Config: { cidr: '10.0.0.0/24', serverIP: '10.0.0.1', pool: { start: '10.0.0.10', end: '10.0.0.11' } },
  },
};
const CONFIG: KubernetesObject = {
  apiVersion: 'network.harvesterhci.io/v1alpha1',
  kind: 'VirtualMachineNetworkConfig',
  metadata: { namespace: 'default', name: 'vm-a' },
  spec: { vmName: 'vm-a', networkConfigs: [{ networkName: 'default/vlan-48', macAddress: '02:00:00:00:00:01' }] },
};

async function running() {
  const clock = new FakeClock();
  const cluster = {
    virtualMachines: new MemoryResource(clock),
    networkConfigs: new MemoryResource(clock),
    ipPools: new MemoryResource(clock),
    networks: new MemoryResource(clock),
    events: new MemoryResource<EventObject>(clock),
  };
  for (const [resource, object] of [
    [cluster.ipPools, POOL],
    [cluster.networkConfigs, CONFIG],
  ] as const) {
    void resource.create(object);
    await clock.advance(10);
  }
  const metrics = createControllerMetrics();
  const clients = Object.entries(Resource).map(
    ([kind, { plural }]) => [plural, cluster[kind as keyof typeof cluster] ?? new MemoryResource(clock)] as const,
  );
  const byPlural = new Map(clients as [string, MemoryResource<KubernetesObject>][]);
  const clientOf = ({ plural }: ApiResource) => byPlural.get(plural) as MemoryResource<KubernetesObject>;
  const caches = new SharedCaches({ open: clientOf, clock, backOff: { firstMs: 100, mostMs: 30_000, random: () => 0.5 } });
  const controller = new DhcpController({
    caches,
    clientOf: clientOf as DhcpControllerSettings['clientOf'],
    clock,
    now: () => '2026-01-01T00:00:00Z',
    random: () => 0.5,
    identity: 'one',
    observer: { onReconciled: metrics.onReconciled },
  });
  metrics.follow(controller, () => true);
  controller.start();
  controller.lead();
  await clock.advance(3_000);
  return { metrics, controller, cluster, clock };
}

it('upstream’s metrics keep their names and labels', async () => {
  const { metrics } = await running();
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'vmdhcpcontroller_ippool_used{ippool="default/net-48",cidr="10.0.0.0/24",network="default/vlan-48"} 1',
      'vmdhcpcontroller_ippool_available{ippool="default/net-48",cidr="10.0.0.0/24",network="default/vlan-48"} 1',
      'vmdhcpcontroller_vmnetcfg_status{vmnetcfg="default/vm-a",network="default/vlan-48",mac="02:00:00:00:00:01",ip="10.0.0.10",state="Allocated",reason=""} 1',
      'vmdhcpcontroller_leading 1',
      'vmdhcpcontroller_queue_depth{kind="ipPools"} 0',
    ]),
  );
});

it('show the conditions of a pool with their reason, its quarantined addresses, and the pods of a group of agents', async () => {
  const quarantined = { '10.0.0.11': { until: '2030-01-01T00:00:00Z' } };
  const conditions = [
    { type: 'AgentReady', status: 'False', reason: 'NotLeading' },
    { type: 'CacheReady', status: 'True' },
  ];
  const pool = { ...POOL, status: { ipv4: { used: 1, available: 0, quarantined }, conditions } };
  const caches = { ipPools: { values: () => [pool] }, networkConfigs: { values: () => [] } };
  const metrics = createControllerMetrics();
  const agentReplicas = () => new Map([['vm-dhcp-agent-mgmt-1', { desired: 2, ready: 1 }]]);
  const none = () => ({});
  const auditFacts = () => undefined;
  metrics.follow(
    { caches, depths: none, oldestWaitsMs: none, agentReplicas, auditFacts } as unknown as DhcpController,
    () => true,
  );
  expect((await metrics.registry.metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      'vmdhcpcontroller_ippool_quarantined{ippool="default/net-48",cidr="10.0.0.0/24",network="default/vlan-48"} 1',
      'vmdhcpcontroller_ippool_condition{ippool="default/net-48",condition="AgentReady",reason="NotLeading"} 0',
      'vmdhcpcontroller_ippool_condition{ippool="default/net-48",condition="CacheReady",reason=""} 1',
      'vmdhcpcontroller_agent_replicas{group="vm-dhcp-agent-mgmt-1",state="desired"} 2',
      'vmdhcpcontroller_agent_replicas{group="vm-dhcp-agent-mgmt-1",state="ready"} 1',
    ]),
  );
});

it('show how long the oldest object waits, and the duration of requests with a response', async () => {
  const { metrics } = await running();
  metrics.onRequest({ method: 'GET', path: '/api/v1/pods', status: 200, durationMs: 60 });
  metrics.onRequest({ method: 'GET', path: '/api/v1/pods', status: 0, durationMs: 10_000 });
  const lines = (await metrics.registry.metrics()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'vmdhcpcontroller_queue_oldest_seconds{kind="ipPools"} 0',
      'vmdhcpcontroller_api_request_duration_seconds_bucket{le="0.05",method="GET",resource="pods"} 0',
      'vmdhcpcontroller_api_request_duration_seconds_bucket{le="0.1",method="GET",resource="pods"} 1',
      'vmdhcpcontroller_api_request_duration_seconds_count{method="GET",resource="pods"} 1',
      'vmdhcpcontroller_api_requests_total{method="GET",resource="pods",code="0"} 1',
    ]),
  );
});

it('keep the gauges of a paused pool, because its addresses stay with their virtual machines', async () => {
  const { metrics, cluster, clock } = await running();
  const stored = cluster.ipPools.objects.get('default/net-48') as KubernetesObject;
  cluster.ipPools.put({ ...stored, spec: { ...(stored.spec as object), paused: true } });
  await clock.advance(5_000);
  expect(JSON.stringify(cluster.ipPools.objects.get('default/net-48')?.status)).toContain('Paused');
  const labels = '{ippool="default/net-48",cidr="10.0.0.0/24",network="default/vlan-48"}';
  const text = await metrics.registry.metrics();
  expect(text).toContain(`vmdhcpcontroller_ippool_used${labels} 1`);
  expect(text).toContain(`vmdhcpcontroller_ippool_available${labels} 1`);
  cluster.ipPools.remove('default/net-48');
  await clock.advance(5_000);
  expect(await metrics.registry.metrics()).not.toContain('ippool="default/net-48"');
});

it('show the reason of the condition for an interface without an address', async () => {
  const { metrics, cluster, clock } = await running();
  for (const name of ['vm-b', 'vm-c']) {
    const networkConfigs = [{ networkName: 'default/vlan-48', macAddress: `02:00:00:00:01:${name === 'vm-b' ? '01' : '02'}` }];
    void cluster.networkConfigs.create({
      ...CONFIG,
      metadata: { namespace: 'default', name },
      spec: { vmName: name, networkConfigs },
    });
    await clock.advance(3_000);
  }
  expect((await metrics.registry.metrics()).split('\n')).toContain(
    'vmdhcpcontroller_vmnetcfg_status{vmnetcfg="default/vm-c",network="default/vlan-48",mac="02:00:00:00:01:02",ip="",state="Pending",reason="PoolExhausted"} 1',
  );
});

it.each([
  ['/apis/network.harvesterhci.io/v1alpha1/namespaces/default/ippools/net-48/status', 'ippools/status'],
  ['/apis/network.harvesterhci.io/v1alpha1/ippools', 'ippools'],
  ['/api/v1/namespaces/default/events', 'events'],
  ['/api/v1/namespaces/default', 'namespaces'],
  ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x', 'customresourcedefinitions'],
])('a request of %s counts for %s', async (path, resource) => {
  const metrics = createControllerMetrics();
  metrics.onRequest({ method: 'GET', path, status: 200, durationMs: 1 });
  expect(await metrics.registry.metrics()).toContain(
    `vmdhcpcontroller_api_requests_total{method="GET",resource="${resource}",code="200"} 1`,
  );
});

it('the dumps are upstream’s', async () => {
  const { controller } = await running();
  const pages = cacheDumpPages(controller.view);
  const read = (path: string, rest: string) => {
    const answer = pages[path]?.({ rest, query: new URLSearchParams() });
    return `${answer?.status} ${[...(answer?.body ?? [])].join('').replaceAll('\n', '')}`;
  };
  expect(read('/ipams/', 'default/vlan-48')).toBe('200 {"10.0.0.10":"true","10.0.0.11":"false"}');
  expect(read('/caches/', 'default/vlan-48')).toBe('200 {"02:00:00:00:00:01":"10.0.0.10"}');
  expect(read('/caches/', 'default/other')).toBe('500 network default/other does not exist');
});

it('records of assignments: what is counted begins with 0, and gauges are those of the leader', async () => {
  const metrics = createControllerMetrics();
  const none = () => ({});
  let facts: AuditFacts | undefined;
  const caches = { ipPools: { values: () => [] }, networkConfigs: { values: () => [] } };
  const controller = { caches, depths: none, oldestWaitsMs: none, agentReplicas: () => new Map(), auditFacts: () => facts };
  metrics.follow(controller as unknown as DhcpController, () => true);
  const lines = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcpcontroller_audit'));
  expect(await lines()).toEqual([
    'vmdhcpcontroller_audit_events_total{event="began"} 0',
    'vmdhcpcontroller_audit_events_total{event="ended"} 0',
    'vmdhcpcontroller_audit_records_dropped_total{reason="limit"} 0',
    'vmdhcpcontroller_audit_records_dropped_total{reason="not-stored"} 0',
  ]);
  facts = {
    ...{ storedOctets: 400, mostOctets: 8_388_608, pendingRecords: 2, completeUntilMs: 1_800_000_000_000 },
    reachBackMs: new Map([['default/net-48', 1_700_000_000_000]]),
  };
  metrics.audit.onDropped('not-stored', 3);
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'vmdhcpcontroller_audit_records_dropped_total{reason="not-stored"} 3',
      'vmdhcpcontroller_audit_stored_bytes 400',
      'vmdhcpcontroller_audit_limit_bytes 8388608',
      'vmdhcpcontroller_audit_pending_records 2',
      'vmdhcpcontroller_audit_complete_until_timestamp_seconds 1800000000',
      'vmdhcpcontroller_audit_complete_since_timestamp_seconds{ippool="default/net-48"} 1700000000',
    ]),
  );
});

it('reconciles, their errors and requests are counted, and their times are in seconds', async () => {
  const { registry, onReconciled, onError, onRequest } = createControllerMetrics();
  onReconciled({ kind: 'IPPool', result: { kind: 'settled' } as never, durationMs: 20 });
  onError('IPPool');
  const path = '/apis/network.harvesterhci.io/v1alpha1/namespaces/default/ippools/net-48/status';
  onRequest({ method: 'PATCH', path, status: 200, durationMs: 40 } as never);
  onRequest({ method: 'PATCH', path, status: 0, durationMs: 90_000 } as never);
  const labels = 'method="PATCH",resource="ippools/status"';
  expect((await registry.metrics()).split('\n')).toEqual(
    expect.arrayContaining([
      'vmdhcpcontroller_reconcile_duration_seconds_sum{kind="IPPool",result="settled"} 0.02',
      'vmdhcpcontroller_reconcile_errors_total{kind="IPPool"} 1',
      `vmdhcpcontroller_api_requests_total{${labels},code="0"} 1`,
      `vmdhcpcontroller_api_request_duration_seconds_sum{${labels}} 0.04`,
      `vmdhcpcontroller_api_request_duration_seconds_count{${labels}} 1`,
    ]),
  );
});

it('an interface whose pool was deleted has no address', async () => {
  const { metrics, cluster, clock } = await running();
  const series = async () =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcpcontroller_vmnetcfg_status{'));
  expect(await series()).toEqual([expect.stringContaining('ip="10.0.0.10",state="Allocated"')]);
  cluster.ipPools.remove('default/net-48');
  await clock.advance(60_000);
  expect(await series()).toEqual([
    'vmdhcpcontroller_vmnetcfg_status{vmnetcfg="default/vm-a",network="default/vlan-48",mac="02:00:00:00:00:01",ip="",state="Pending",reason="NoPool"} 1',
  ]);
});
