/** A rack in memory: an API server, the leases of a DHCP server, management controllers, and agents that come and go. */

import type { HostAction } from '@vmdhcp/ippool-api/bare-metal';
import { HOST_CREDENTIALS_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import {
  type ApiResource,
  type EventObject,
  EventRecorder,
  formatTime,
  type KubernetesObject,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { FakeClock, MemoryResource } from '@vmdhcp/kube-runtime/testing';
import type { BoundAddresses } from '../binding/bound-addresses.js';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import type { HostLease } from '../inventory/inventory-plan.js';
import { planHostInventory } from '../inventory/plan-host-inventory.js';
import type { OperationOutcome } from '../operation/operation-attempts.js';
import { HostAgent } from './host-agent.js';
import type { HostAgentEvent } from './host-agent-event.js';
import type { HostAgentPorts, HostTarget, PollReport } from './ports.js';

const API_VERSION = 'bmc.spidernet.io/v1beta1';
export const START_MS = 1_767_225_600_000;

export const agentObject = (dhcp: object = {}, endpoint: object = {}): KubernetesObject => ({
  apiVersion: API_VERSION,
  kind: 'ClusterAgent',
  metadata: { name: 'rack', uid: 'uid-rack' },
  spec: {
    agentYaml: { underlayInterface: 'bmc' },
    endpoint,
    feature: {
      dhcpServerConfig: {
        dhcpServerInterface: 'net1',
        subnet: '10.0.0.0/16',
        ipRange: '10.0.0.10-10.0.255.250',
        gateway: '10.0.0.1',
        ...dhcp,
      },
    },
  },
});

export const endpointObject = (name: string, ipAddr: string, spec: object = {}): KubernetesObject => ({
  apiVersion: API_VERSION,
  kind: 'HostEndpoint',
  metadata: { name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { clusterAgent: 'rack', ipAddr, https: true, port: 443, ...spec },
});

/** Number 10 has the address 10.0.0.10, and so on up to 60,000. */
export const addressOf = (number: number): string => `10.0.${number >> 8}.${number & 255}`;
export const nameOf = (number: number): string => `rack-${addressOf(number).replaceAll('.', '-')}`;
export const lease = (number: number, client = number): HostLease => ({
  ipAddress: addressOf(number),
  macAddress: `02:00:00:00:${(client >> 8).toString(16).padStart(2, '0')}:${(client & 255).toString(16).padStart(2, '0')}`,
});

export class Rack {
  readonly clock = new FakeClock();
  readonly clusterAgents = new MemoryResource(this.clock);
  readonly endpoints = new MemoryResource(this.clock);
  readonly hosts = new MemoryResource(this.clock);
  readonly operations = new MemoryResource(this.clock);
  readonly events = new MemoryResource<EventObject>(this.clock);
  /** By `namespace/name`. */
  readonly secrets = new Map<string, MemoryResource>();
  leases: readonly HostLease[] | undefined = [];
  readonly bound: BoundAddresses[] = [];
  /** Every write of a HostStatus that took effect: `create rack-10-0-0-10` and so on. */
  readonly written: string[] = [];
  readonly observed: HostAgentEvent[] = [];
  /** Every poll that began: `rack-10-0-0-10 @ 10.0.0.10:443 user`. */
  readonly polled: string[] = [];
  /** Every action that a management controller carried out. */
  readonly actions: string[] = [];
  health: (target: HostTarget, signal: AbortSignal) => Promise<PollReport> = async () => ({
    kind: 'healthy',
    info: {},
    log: [],
  });
  operate: (target: HostTarget, action: HostAction, signal: AbortSignal) => Promise<OperationOutcome> = async () => ({
    isSuccess: true,
    message: 'HTTP 204',
  });
  #runs = 0;

  constructor(agent: KubernetesObject | undefined = agentObject()) {
    if (agent !== undefined) this.clusterAgents.put(agent);
    this.hosts.onWritten = (what, key) => this.written.push(`${what} ${key}`);
  }

  get wallTimeMs(): number {
    return START_MS + this.clock.nowMs();
  }

  /** An agent that is leader from now on. */
  lead(ports: Partial<HostAgentPorts> = {}): HostAgent {
    const agent = new HostAgent({ ...this.ports(), ...ports });
    agent.start();
    return agent;
  }

  ports(): HostAgentPorts {
    const { clock } = this;
    const random = () => 0.5;
    const wallTimeMs = () => this.wallTimeMs;
    const now = () => formatTime(this.wallTimeMs);
    return {
      clusterAgentName: 'rack',
      runId: `run-${++this.#runs}`,
      clock,
      wallTimeMs,
      random,
      caches: new SharedCaches({
        clock,
        backOff: { firstMs: 100, mostMs: 10_000, random },
        open: (resource) => this.#open(resource),
      }),
      isLeading: () => true,
      hostStatuses: this.hosts,
      hostOperations: this.operations,
      events: new EventRecorder({ client: this.events, clock, now, random: Math.random, component: 'agent', instance: 'one' }),
      leases: () => this.leases,
      onBindings: (bound) => this.bound.push(bound),
      managementControllers: {
        read: (target, signal) => {
          this.polled.push(`${target.name} @ ${target.address}:${target.connection.port}`);
          return this.health(target, signal);
        },
        operate: (target, action, signal) => {
          this.actions.push(`${action} ${target.name}`);
          return this.operate(target, action, signal);
        },
      },
      observer: { observe: (event) => this.observed.push(event) },
    };
  }

  /** This many hosts from number 10 on, all healthy, as an earlier leader left them. */
  seed(count: number): void {
    this.leases = Array.from({ length: count }, (_, index) => lease(10 + index));
    const [agent] = this.clusterAgents.objects.values();
    if (agent === undefined) throw new Error('hosts need a ClusterAgent');
    const facts = {
      clusterAgent: readClusterAgent(agent),
      clusterAgents: ['rack'],
      leases: this.leases,
      endpoints: [],
      hostStatuses: [],
    };
    for (const action of planHostInventory({ ...facts, nowMs: this.wallTimeMs }).actions) {
      if (action.kind !== 'create') continue;
      const { metadata } = action.object;
      this.hosts.put({
        ...action.object,
        metadata: { ...metadata, uid: `uid-${action.name}` },
        status: { ...action.status, healthy: true, log: { totalLogAccount: 0, warningLogAccount: 0, reportedEntries: '' } },
      });
    }
  }

  /** Creates an operation for host 10, or for another one. */
  order(name: string, action: HostAction, { number = 10, afterMs = 0, host = nameOf(number) } = {}): void {
    this.operations.put({
      apiVersion: API_VERSION,
      kind: 'HostOperation',
      metadata: { name, uid: `uid-${name}`, creationTimestamp: formatTime(this.wallTimeMs + afterMs) },
      spec: { action, hostStatusName: host },
    });
  }

  /** Ports of an agent that can die at any moment: from then on its calls have no effect, and its timers do not fire. */
  mortal(life: { readonly isDead: boolean }): Partial<HostAgentPorts> {
    const ports = this.ports();
    const never = () => Promise.withResolvers<never>().promise;
    const alive =
      <Parameters extends readonly unknown[], Result>(call: (...parameters: Parameters) => Promise<Result>) =>
      async (...parameters: Parameters): Promise<Result> => {
        if (life.isDead) return never();
        const result = await call(...parameters);
        return life.isDead ? never() : result;
      };
    const { read, operate } = ports.managementControllers;
    const { create, patch, patchStatus, delete: remove } = this.hosts;
    const clock = {
      nowMs: this.clock.nowMs,
      after: (delayMs: number, run: () => void) =>
        this.clock.after(delayMs, () => {
          if (!life.isDead) run();
        }),
    };
    return {
      ...ports,
      clock,
      hostStatuses: { create: alive(create), patch: alive(patch), patchStatus: alive(patchStatus), delete: alive(remove) },
      hostOperations: { patchStatus: alive(this.operations.patchStatus) },
      managementControllers: { read: alive(read), operate: alive(operate) },
    };
  }

  host(number: number): KubernetesObject | undefined {
    return this.hosts.objects.get(nameOf(number));
  }

  /** The reasons of Events, `HostDiscovered`, and so on, each once, in order. */
  get reasons(): readonly string[] {
    return [...this.events.objects.values()].map(({ reason }) => reason);
  }

  /** Has the label that lets agents use it, unless other labels are given. */
  putSecret(
    key: string,
    data: Readonly<Record<string, string>>,
    labels: Readonly<Record<string, string>> = { [HOST_CREDENTIALS_LABEL]: 'true' },
  ): void {
    const [namespace = '', name = ''] = key.split('/');
    this.#secret(key).put({ metadata: { namespace, name, uid: `uid-${name}`, labels }, data } as KubernetesObject);
  }

  /** Makes listing fail. @returns a function that undoes this. */
  refuseSecret(key: string, status: number): () => void {
    const secret = this.#secret(key);
    const { list } = secret;
    const error = Object.assign(new Error(`HTTP ${status}`), { status });
    const fail = async () => {
      await new Promise<void>((resolve) => this.clock.after(1, resolve));
      throw error;
    };
    Object.assign(secret, { list: fail });
    return () => Object.assign(secret, { list });
  }

  #secret(key: string): MemoryResource {
    const resource = this.secrets.get(key) ?? new MemoryResource(this.clock);
    this.secrets.set(key, resource);
    return resource;
  }

  #open({ plural, namespace, fieldSelector = '' }: ApiResource): MemoryResource {
    switch (plural) {
      case 'clusteragents':
        return this.clusterAgents;
      case 'hostendpoints':
        return this.endpoints;
      case 'hoststatuses':
        return this.hosts;
      case 'hostoperations':
        return this.operations;
      case 'secrets':
        return this.#secret(`${namespace}/${fieldSelector.replace('metadata.name=', '')}`);
      default:
        throw new Error(`no ${plural} here`);
    }
  }
}
