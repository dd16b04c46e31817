/** One run of the controller: its parts on shared caches under an election, as the program puts them together. */
import { randomUUID } from 'node:crypto';
import { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import { LEASE_DURATION_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import {
  type ApiResource,
  fencedClient,
  type KubernetesObject,
  type PartsRun,
  runParts,
  SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiLeaseStore, ApiObjectClient, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import { type AgentTopology, cachedPartsWith, DhcpController } from '@vmdhcp/reconciler';
import { Transport } from '../api/transport.js';
import { WakeManager } from '../wake/wake-manager.js';
import type { Surroundings } from './surroundings.js';

export const AGENT_NAMESPACE = 'vm-dhcp-agents';
/** The Deployment of topology unified, and its container: the chart installs it. */
export const UNIFIED_DEPLOYMENT = 'vm-dhcp-controller-agent';
export const CONTROLLER_NAMESPACE = 'vm-dhcp-system';
const LEASE = { namespace: 'kube-system', name: 'vm-dhcp-controllers' };
const ELECTION = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };
const TIMEOUT_MS = 30_000;
const RESTART_MS = 2_000;

export interface ControllerSettings extends Surroundings {
  readonly node: string;
  readonly topology: AgentTopology;
  readonly maxPoolsPerAgent: number;
}

export class ControllerRun {
  readonly process: FakeProcess;
  /** Undefined without Wake-on-LAN. */
  readonly wakeManager: WakeManager | undefined;
  readonly #settings: ControllerSettings;
  readonly #run: PartsRun;
  #isOver = false;

  constructor(settings: ControllerSettings) {
    this.#settings = settings;
    this.process = new FakeProcess(settings.scheduler);
    const chance = () => settings.random(1_000_000) / 1_000_000;
    const honest = this.#transport(TIMEOUT_MS);
    const transport: ApiTransport = settings.fault?.controller?.(honest) ?? honest;
    const identity = `controller_${randomUUID()}`;
    const isLeading = () => this.#run.isLeading();
    const clientOf = <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) =>
      fencedClient(new ApiObjectClient<Kind>(transport, resource), isLeading);
    const caches = new SharedCaches({
      open: clientOf,
      clock: this.process,
      backOff: { firstMs: 100, mostMs: 30_000, random: chance },
      trim: cachedPartsWith({ machineLabels: settings.hasWakeOnLan }),
    });
    const dhcp = new DhcpController({
      caches,
      clientOf,
      clock: this.process,
      now: () => `${new Date().toISOString().slice(0, 19)}Z`,
      random: chance,
      identity,
      agents: this.#agents(),
    });
    const { node, hasWakeOnLan } = settings;
    this.wakeManager = hasWakeOnLan
      ? new WakeManager({
          ...{ node, identity, caches, clientOf, isLeading, transport, process: this.process, random: chance },
          namespace: AGENT_NAMESPACE,
          inventory: dhcp.inventory,
        })
      : undefined;
    this.#run = runParts({
      parts: this.wakeManager === undefined ? [dhcp] : [dhcp, this.wakeManager.part],
      clock: this.process,
      election: {
        ...ELECTION,
        identity,
        store: new ApiLeaseStore(this.#transport(ELECTION.renewDeadlineMs * 0.6), {
          ...LEASE,
          wallTimeMs: Date.now,
          durationAnnotation: LEASE_DURATION_ANNOTATION,
        }),
        random: chance,
        onError: () => undefined,
      },
    });
    this.#run.start();
  }

  isLeading(): boolean {
    return !this.#isOver && this.#run.isLeading();
  }

  /** SIGKILL: it never runs again. */
  kill(): void {
    this.#isOver = true;
    this.process.kill();
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#run.stop();
    this.process.kill();
  }

  /** Called when it ends by itself, for example when its leadership is lost. @param again - called after its container has been restarted. */
  onEnded(again: () => void): void {
    void this.#run.ended.then(() => {
      if (this.#isOver) return;
      this.kill();
      this.#settings.scheduler.after(RESTART_MS, again);
    });
  }

  #transport(timeoutMs: number): Transport {
    const { scheduler, simulator, linkOf, tokenOf, node, subresource } = this.#settings;
    return new Transport({
      scheduler,
      simulator,
      link: linkOf(node),
      process: this.process,
      token: tokenOf(CONTROLLER_NAMESPACE, 'vm-dhcp-controller'),
      userAgent: 'vmdhcp-controller',
      timeoutMs,
      subresource,
    });
  }

  #agents() {
    const { topology, maxPoolsPerAgent } = this.#settings;
    return {
      topology,
      maxPoolsPerAgent,
      namespace: AGENT_NAMESPACE,
      maxGroupsUpgrading: 1,
      groupRights: true,
      unified: { deploymentName: UNIFIED_DEPLOYMENT, containerName: UNIFIED_DEPLOYMENT },
      pods:
        topology === 'unified'
          ? undefined
          : {
              namespace: AGENT_NAMESPACE,
              image: 'vmdhcp-agent:world',
              imagePullPolicy: 'IfNotPresent' as const,
              imagePullSecrets: [],
              priorityClassName: undefined,
              replicas: 2,
              resources: { cpu: '50m', memory: '64Mi', memoryLimit: '256Mi' },
              leaseSeconds: 2.75,
              dryRun: false,
            },
    };
  }
}
