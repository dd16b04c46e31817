/** Wake-on-LAN in one run of the controller: the real index, agents' DaemonSets and decisions. Agents reach it without gRPC. */

import type { FakeProcess } from '@vmdhcp/dhcp-agent/testing';
import {
  type ApiResource,
  type ControllerPart,
  fencedClient,
  type KubernetesObject,
  type ObjectClient,
  type SharedCaches,
} from '@vmdhcp/kube-runtime';
import { ApiObjectClient, ApiRequestError, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import type { DhcpController } from '@vmdhcp/reconciler';
import { hasLostAddress } from '@vmdhcp/reconciler';
import type { ReportOutcome, WakeReport } from '@vmdhcp/wake-on-lan';
import { kubevirtRequests, WakeDecider, WakeOnLanController } from '@vmdhcp/wake-on-lan/controller';

export interface WakeManagerSettings {
  readonly node: string;
  readonly namespace: string;
  readonly identity: string;
  readonly process: FakeProcess;
  readonly caches: SharedCaches;
  readonly clientOf: <Kind extends KubernetesObject = KubernetesObject>(resource: ApiResource) => ObjectClient<Kind>;
  readonly inventory: DhcpController['inventory'];
  readonly isLeading: () => boolean;
  readonly transport: ApiTransport;
  readonly random: () => number;
}

export class WakeManager {
  readonly node: string;
  readonly part: ControllerPart;
  readonly process: FakeProcess;
  readonly #isLeading: () => boolean;
  readonly #controller: WakeOnLanController;
  readonly #decider: WakeDecider;
  #isComplete = false;

  constructor(settings: WakeManagerSettings) {
    const { node, namespace, identity, process, caches, clientOf, inventory, isLeading, transport, random } = settings;
    this.node = node;
    this.process = process;
    this.#isLeading = isLeading;
    this.#controller = new WakeOnLanController({
      ...{ caches, clientOf, inventory, identity, random, clock: process },
      now: () => `${new Date().toISOString().slice(0, 19)}Z`,
      agents: { namespace, image: 'vmdhcp-agent:world', imagePullSecrets: [], manager: 'manager:9443', tlsSecret: undefined },
      observer: {
        onSynced: () => {
          this.#isComplete = true;
        },
      },
    });
    this.part = this.#controller;
    const { index } = this.#controller;
    const isSynced = () => this.#isComplete && this.#controller.synced;
    this.#decider = new WakeDecider({
      hasLostAddress,
      ...kubevirtRequests(
        (resource) => fencedClient(new ApiObjectClient<KubernetesObject>(transport, resource), isLeading),
        (error) => (error instanceof ApiRequestError ? (error.status ?? 0) : undefined),
      ),
      ...{ clock: process, wallTimeMs: Date.now, isLeading },
      leaderAddress: () => undefined,
      index: {
        get synced() {
          return isSynced();
        },
        find: index.find,
      },
      policyOf: index.policyOf,
      record: () => undefined,
      observer: {
        onReport: () => undefined,
        onStarting: () => undefined,
        onAnswer: () => undefined,
        onWaitOver: () => undefined,
        onFault: (error) => {
          throw error;
        },
      },
    });
  }

  /** True if it is leader and knows the machines. */
  get isServing(): boolean {
    return !this.process.isDead && this.#isLeading() && this.#isComplete;
  }

  /** All addresses that agents without a password may wake. */
  addresses(): ReadonlySet<string> {
    return new Set(this.#controller.index.addresses.snapshot());
  }

  async report(report: WakeReport): Promise<ReportOutcome> {
    return await this.#decider.report(report);
  }
}
