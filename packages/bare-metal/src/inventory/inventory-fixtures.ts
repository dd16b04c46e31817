/** A ClusterAgent, HostEndpoints, and an API server for HostStatus objects that loses writes. */

import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import type { HostLease, HostStatusAction, InventoryFacts, InventoryPlan } from './inventory-plan.js';
import { planHostInventory } from './plan-host-inventory.js';

export const NOW_MS = 1_767_225_600_000;

export const agentObject = (dhcp: object = {}, endpoint: object = {}, name = 'agent'): KubernetesObject => ({
  metadata: { name, uid: `uid-${name}` },
  spec: {
    agentYaml: { underlayInterface: 'net', replicas: 1 },
    endpoint: {
      ...{ port: 443, https: true, secretName: 'bmc', secretNamespace: 'default' },
      networks: ['192.168.7.0/24', '2001:db8::/64'],
      ...endpoint,
    },
    feature: {
      enableDhcpServer: true,
      dhcpServerConfig: {
        enableDhcpDiscovery: true,
        enableBindDhcpIP: true,
        enableBindStaticIP: true,
        dhcpServerInterface: 'net1',
        subnet: '10.0.0.0/24',
        ipRange: '10.0.0.10-10.0.0.99',
        gateway: '10.0.0.1',
        ...dhcp,
      },
    },
  },
});

export const endpointObject = (name: string, ipAddr: string, spec: object = {}): KubernetesObject => ({
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterAgent: 'agent', ipAddr, https: true, port: 443, ...spec },
});

export const lease = (last: number, client = last): HostLease => ({
  ipAddress: `10.0.0.${last}`,
  macAddress: `02:00:00:00:00:${client.toString(16).padStart(2, '0')}`,
});

export function factsOf(facts: Partial<InventoryFacts> = {}): InventoryFacts {
  return {
    clusterAgent: readClusterAgent(agentObject()),
    clusterAgents: ['agent', 'other'],
    leases: [],
    endpoints: [],
    hostStatuses: [],
    nowMs: NOW_MS,
    ...facts,
  };
}

type Json = Record<string, unknown>;

function merged(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Json = typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...(value as Json) } : {};
  for (const [name, one] of Object.entries(patch)) {
    if (one === null) delete result[name];
    else result[name] = merged(result[name], one);
  }
  return result;
}

/** How much of an action reaches the server. */
export type Effect = 'all' | 'nothing' | 'first-write';

/** HostStatus objects as an API server stores them: created without status; metadata and status are patched separately. */
export class StoredHosts {
  readonly #objects = new Map<string, KubernetesObject>();
  writes = 0;
  #versions = 0;

  constructor(objects: readonly KubernetesObject[] = []) {
    for (const one of objects) this.#objects.set(one.metadata.name, one);
  }

  get all(): readonly KubernetesObject[] {
    return [...this.#objects.values()];
  }

  get(name: string): KubernetesObject | undefined {
    return this.#objects.get(name);
  }

  /** Edits an object as a person would. */
  edit(name: string, patch: Json): void {
    const object = this.#objects.get(name);
    if (object !== undefined) this.#set(name, merged(object, patch) as KubernetesObject);
  }

  apply(action: HostStatusAction, effect: Effect = 'all'): void {
    if (effect === 'nothing') return;
    this.writes++;
    switch (action.kind) {
      case 'create':
        this.#create(action, effect);
        return;
      case 'patch':
        if (action.resourceVersion === undefined || action.resourceVersion === this.#version(action.name))
          this.edit(action.name, { metadata: action.patch['metadata'] });
        return;
      case 'patch-status':
        this.edit(action.name, { status: action.patch['status'] });
        return;
      case 'delete':
        if (action.resourceVersion === this.#version(action.name)) this.#objects.delete(action.name);
    }
  }

  #create({ name, object, status }: Extract<HostStatusAction, { kind: 'create' }>, effect: Effect): void {
    if (this.#objects.has(name)) return;
    this.#set(name, { ...object, metadata: { ...object.metadata, uid: `uid-${++this.#versions}` } });
    if (effect === 'all') this.edit(name, { status });
  }

  /** Plans and applies until nothing is left to do. @throws Error if that does not end. */
  settle(facts: Omit<InventoryFacts, 'hostStatuses'>): void {
    for (let turn = 0; turn < 5; turn++) {
      const { actions } = planHostInventory({ ...facts, hostStatuses: this.all });
      if (actions.length === 0) return;
      for (const action of actions) this.apply(action);
    }
    throw new Error('the plan does not come to an end');
  }

  /** Objects that Kubernetes deletes, because their HostEndpoint is gone. */
  collectGarbage(endpoints: readonly KubernetesObject[]): void {
    const there = new Set(endpoints.map(({ metadata }) => metadata.uid));
    for (const { metadata } of this.all) {
      const owners = metadata.ownerReferences ?? [];
      if (owners.length > 0 && !owners.some(({ uid }) => there.has(uid))) this.#objects.delete(metadata.name);
    }
  }

  #version(name: string): string | undefined {
    return this.#objects.get(name)?.metadata.resourceVersion;
  }

  #set(name: string, object: KubernetesObject): void {
    this.#objects.set(name, { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.#versions) } });
  }
}

/** The hosts of these leases and HostEndpoints, as the plan created them. */
export function storedHosts(facts: Partial<InventoryFacts>): StoredHosts {
  const hosts = new StoredHosts();
  hosts.settle(factsOf(facts));
  return hosts;
}

/** `patch-status agent-10-0-0-10: LeaseEnded`. */
export function shownActions(actions: readonly HostStatusAction[]): string[] {
  return actions.map(({ kind, name, events }) => [`${kind} ${name}`, ...events.map(({ event }) => event.reason)].join(': '));
}

export function planOf(hosts: StoredHosts, facts: Partial<InventoryFacts>): InventoryPlan {
  return planHostInventory(factsOf({ ...facts, hostStatuses: hosts.all }));
}

export function actionsAfter(hosts: StoredHosts, facts: Partial<InventoryFacts>): string[] {
  return shownActions(planOf(hosts, facts).actions);
}
