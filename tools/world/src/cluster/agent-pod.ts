/** A pod of agents: the real agent on a simulated kernel, behind the API server's real objects. */
import { randomUUID } from 'node:crypto';
import type { GroupLease } from '@vmdhcp/dhcp-agent';
import { electionTimes } from '@vmdhcp/dhcp-agent/leadership-times';
import { ApiGroupLease } from '@vmdhcp/dhcp-agent/node';
import { type FakeNetwork, FakePod, type LeasePath } from '@vmdhcp/dhcp-agent/testing';
import { formatIpv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator';
import { AGENT_LEASE_VARIABLE, AGENT_NETWORK_CONFIGS_VARIABLE, parseAgentNetworkConfigs } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import type { KubernetesObject, ResourcePort } from '@vmdhcp/kube-runtime';
import { ApiObjectClient } from '@vmdhcp/kube-runtime/node';
import type { Pod, PodProcess } from '@vmdhcp/kube-simulator';
import { podVariables } from '@vmdhcp/lab';
import { UNIFIED_GROUP } from '@vmdhcp/reconciler';
import { type ApiLink, Transport } from '../api/transport.js';
import type { Segment } from '../network/segment.js';
import { EPOCH_MS } from '../time/virtual-process.js';
import type { Surroundings } from './surroundings.js';

const LEASE_SECONDS = 2.75;
const READINESS_MS = 500;
const POOL_TIMEOUT_MS = 30_000;

export class AgentPod implements PodProcess {
  readonly name: string;
  readonly node: string;
  readonly agent: FakePod;
  readonly ready: Promise<void>;
  readonly exited: Promise<number>;
  /** By interface. */
  readonly segments: ReadonlyMap<string, Segment>;
  readonly #surroundings: Surroundings;
  readonly #pod: Pod;
  #exit: (code: number) => void = () => undefined;
  #onReadiness: (ready: boolean) => void = () => undefined;
  #isReady = false;
  #hasEnded = false;

  constructor(pod: Pod, surroundings: Surroundings) {
    this.#surroundings = surroundings;
    this.#pod = pod;
    this.name = pod.metadata.name ?? '';
    this.node = pod.spec.nodeName ?? '';
    const { promise, resolve } = Promise.withResolvers<number>();
    this.exited = promise;
    this.#exit = resolve;
    const variables = podVariables(pod, { podAddress: '198.18.0.1' });
    const parsed = parseAgentNetworkConfigs(variables[AGENT_NETWORK_CONFIGS_VARIABLE]);
    const configs = parsed.ok ? parsed.configs : [];
    this.segments = new Map(
      configs.flatMap(({ interfaceName, nadName }) => {
        const { segments, segmentAt, fault } = surroundings;
        const segment = segmentAt(this.node, fault?.network?.(nadName, [...segments.keys()]) ?? nadName);
        return segment === undefined ? [] : [[interfaceName, segment] as const];
      }),
    );
    const networks = new Map<string, FakeNetwork>();
    for (const [interfaceName, segment] of this.segments)
      networks.set(
        interfaceName,
        segment.portOf(this.node, () => this.agent),
      );
    const { scheduler, random } = surroundings;
    this.agent = new FakePod({
      identity: `${this.name}_${randomUUID()}`,
      clock: scheduler,
      lease: { reachedBy: (path) => this.#lease(path, variables[AGENT_LEASE_VARIABLE] ?? UNIFIED_GROUP) },
      configs,
      networks,
      poolSource: (key) => this.#poolSource(key),
      random: () => random(1_000_000) / 1_000_000,
      election: surroundings.fault?.election ?? electionTimes(LEASE_SECONDS),
    });
    this.agent.addressUse = (interfaceName, address, macAddress) => this.#usersOf(interfaceName, address, macAddress);
    this.agent.wallOffsetMs = EPOCH_MS;
    surroundings.fault?.agent?.(this.agent);
    for (const [interfaceName, segment] of this.segments)
      segment.attach(this.agent, this.node, networks.get(interfaceName) as FakeNetwork);
    this.ready = this.#watchReadiness();
    this.agent.agent.start();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  onReadiness(listener: (ready: boolean) => void): void {
    this.#onReadiness = listener;
  }

  /** 0 for SIGKILL: its addresses stay on the interfaces until their lifetime ends. */
  stop(gracePeriodSeconds: number): void {
    if (this.#hasEnded) return;
    if (gracePeriodSeconds === 0) this.#end(137);
    else void this.agent.agent.stop().then(() => this.#end(0));
  }

  /** Power loss of the node: it disappears from the network. */
  loseInterfaces(): void {
    for (const interfaceName of this.segments.keys()) this.agent.kernel.removeLink(interfaceName);
  }

  #end(code: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.agent.process.kill();
    for (const segment of this.segments.values()) segment.detach(this.agent);
    this.#exit(code);
  }

  #watchReadiness(): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#hasEnded) return;
        const isReady = !this.agent.process.isFrozen && [...this.agent.agent.unready()].length === 0;
        if (isReady) resolve();
        if (isReady !== this.#isReady) this.#onReadiness(isReady);
        this.#isReady = isReady;
        this.#surroundings.scheduler.after(READINESS_MS, look);
      };
      this.#surroundings.scheduler.after(READINESS_MS, look);
    });
  }

  #transport(timeoutMs: number): Transport {
    const { scheduler, simulator, linkOf, tokenOf } = this.#surroundings;
    const serviceAccount = (this.#pod.spec as { readonly serviceAccountName?: string }).serviceAccountName ?? 'default';
    const link: ApiLink = linkOf(this.node);
    const agent = () => this.agent;
    return new Transport({
      scheduler,
      simulator,
      link: { ...link, isCut: () => link.isCut() || this.agent.isCutOff },
      // Evaluated later, because the pod is still being created.
      process: {
        deliver: (run) => this.agent.process.deliver(run),
        settled: (promise) => this.agent.process.settled(promise),
        get timeMs() {
          return agent().process.timeMs;
        },
      },
      token: tokenOf(this.#pod.metadata.namespace ?? '', serviceAccount),
      userAgent: 'vmdhcp-agent',
      timeoutMs,
    });
  }

  #lease({ timeoutMs, process }: LeasePath, name: string): GroupLease {
    const { random, fault } = this.#surroundings;
    const lease = new ApiGroupLease({
      election: this.#transport(timeoutMs),
      watching: this.#transport(POOL_TIMEOUT_MS),
      namespace: this.#pod.metadata.namespace ?? '',
      name,
      clock: process,
      wallTimeMs: () => this.#surroundings.scheduler.nowMs() + this.agent.wallOffsetMs,
      random: () => random(1_000_000) / 1_000_000,
    });
    return fault?.lease?.(lease) ?? lease;
  }

  #poolSource(key: string): ResourcePort<KubernetesObject> {
    const [namespace = '', name = ''] = key.split('/', 2);
    const resource = { ...Resource.ipPools, namespace, fieldSelector: `metadata.name=${name}` };
    const source = new ApiObjectClient<KubernetesObject>(this.#transport(POOL_TIMEOUT_MS), resource);
    return this.#surroundings.fault?.pools?.(source) ?? source;
  }

  async #usersOf(interfaceName: string, address: number, macAddress: MacAddress) {
    const users = (await this.segments.get(interfaceName)?.usersOf(this.node, formatIpv4Address(address))) ?? [];
    return { byClient: users.includes(macAddress), others: users.filter((user) => user !== macAddress) as MacAddress[] };
  }
}
