/** Follows what binds addresses, until `@vmdhcp/host-agent` does. */
import { type BoundAddresses, boundAddresses, readClusterAgent } from '@vmdhcp/host-inventory';
import type { KubernetesObject, SharedCaches } from '@vmdhcp/kube-runtime';
import { HostResource } from './host-resources.js';
import type { HostInventory } from './leader-duties.js';

export function bindingsOfCaches(name: string, caches: SharedCaches, onBindings: (b: BoundAddresses) => void): HostInventory {
  const onChange = () => tell();
  const listen = { onChange, onSynced: onChange };
  const agents = caches.subscribe(HostResource.clusterAgents, listen);
  const endpoints = caches.subscribe(HostResource.hostEndpoints, listen);
  const hostStatuses = caches.subscribe(HostResource.hostStatuses, listen);
  const all = [agents, endpoints, hostStatuses];
  function tell(): void {
    const agent: KubernetesObject | undefined = agents.get(name);
    if (agent === undefined || !all.every(({ synced }) => synced)) return;
    const clusterAgents = [...agents.values()].map(({ metadata }) => metadata.name);
    const facts = { clusterAgent: readClusterAgent(agent), clusterAgents, leases: undefined };
    onBindings(boundAddresses({ ...facts, endpoints: [...endpoints.values()], hostStatuses: [...hostStatuses.values()] }));
  }
  return {
    start: () => {
      for (const one of all) one.start();
    },
    leasesChanged: () => undefined,
    stop: async () => {
      for (const one of all) one.stop();
    },
  };
}
