/** The metrics of bare-metal hosts in the controller: agents have their own metrics. */
import type { ClusterAgentAddresses } from '@vmdhcp/bare-metal/controller';
import type { OwnedObjectWrite } from '@vmdhcp/kube-runtime';
import { Counter, Gauge, type Registry } from 'prom-client';

export interface BareMetalGauges {
  /** By the name of the ClusterAgent. */
  readonly ready: () => ReadonlyMap<string, boolean>;
  /** From the reports of their leaders, by the name of the ClusterAgent. */
  readonly addresses: () => ReadonlyMap<string, ClusterAgentAddresses>;
  readonly isLeading: () => boolean;
}

export interface BareMetalMetrics {
  readonly onAgentWrite: (write: Pick<OwnedObjectWrite, 'kind' | 'object'>) => void;
  readonly onOrphanedOperation: () => void;
}

/** Registers the metrics. */
export function createBareMetalMetrics(registry: Registry, { ready, addresses, isLeading }: BareMetalGauges): BareMetalMetrics {
  const registers = [registry];
  const writes = new Counter({
    name: 'vmdhcpcontroller_host_agent_writes_total',
    help: 'Objects of the agents of bare-metal hosts that were created, changed or removed.',
    labelNames: ['kind', 'write'],
    registers,
  });
  const orphans = new Counter({
    name: 'vmdhcpcontroller_orphaned_host_operations_total',
    help: 'HostOperations that failed because no agent accepts them.',
    registers,
  });
  new Gauge({
    name: 'vmdhcpcontroller_cluster_agent_ready',
    help: '1 for each ClusterAgent whose agents are ready, else 0; none for one with replicas 0. Only the leader has it.',
    labelNames: ['clusteragent'],
    registers,
    collect() {
      this.reset();
      if (!isLeading()) return;
      for (const [clusteragent, isReady] of ready()) this.set({ clusteragent }, isReady ? 1 : 0);
    },
  });
  new Gauge({
    name: 'vmdhcpcontroller_cluster_agent_addresses',
    help: 'Addresses of the range of a ClusterAgent by state: used (a client has a lease) or available. Only the leader has it.',
    labelNames: ['clusteragent', 'state'],
    registers,
    collect() {
      this.reset();
      if (!isLeading()) return;
      for (const [clusteragent, { used, available }] of addresses()) {
        this.set({ clusteragent, state: 'used' }, used);
        this.set({ clusteragent, state: 'available' }, available);
      }
    },
  });
  return {
    onAgentWrite: ({ kind: write, object: { kind = '' } }) => writes.inc({ kind, write }),
    onOrphanedOperation: () => orphans.inc(),
  };
}
