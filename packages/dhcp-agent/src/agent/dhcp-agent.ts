/**
 * An agent in a cluster: pools from the API server, one leader among its replicas. Every replica knows all pools, and has its sockets
 * open; the leader has the server addresses and answers. The others answer clients that retransmit.
 */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { AgentNetworkConfig, AgentReport } from '@vmdhcp/ippool-api/agent';
import { describeNames, type ElectionTimes } from '@vmdhcp/kube-runtime';
import { readReportedConflicts } from '@vmdhcp/reconciler/pool';
import { every } from '../every.js';
import { PoolSockets } from '../interface/pool-sockets.js';
import { ReportedVersions } from '../leadership/reported-versions.js';
import { StandbyGate } from '../leadership/standby-gate.js';
import { FollowedPools } from '../pool/followed-pools.js';
import type { AgentPorts, DhcpPacketHandler, ServerAddress } from '../ports.js';
import { AddressUsers, DECOYS } from '../probe/address-users.js';
import { ConflictProbes } from '../probe/conflict-probes.js';
import { RogueServers } from '../probe/rogue-servers.js';
import { type AnswerGate, DhcpServer } from '../server/dhcp-server.js';
import type { MessageCounters } from '../server/message-counters.js';
import type { SilentNetworks } from '../silence/silent-networks.js';
import { AgentLeadership } from './agent-leadership.js';
import { type AnswerMode, answerMode } from './answer-mode.js';
import { Ipv6OfNetworks } from './ipv6-of-networks.js';
import { reportOn } from './pool-report.js';
import { UsesOnNetworks } from './uses-on-networks.js';
import { watchForSilence } from './watch-for-silence.js';

const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 5_000;
/** After this long without news from the API server, assume that only this replica is cut off. */
const OUT_OF_TOUCH_MS = 5_000;
/** The extra time, beyond the shortest Lease duration, that a cut-off replica gives others to take over. */
const TAKE_OVER_MS = 250;
const NO_MACHINE_REACHED =
  'no machine is reached on any network; another node may have the bridge, the uplink or the VLAN that is missing here';
/** How long a leader may take to probe new addresses. */
const PROBED_BY_LEADER_MS = 12_000;

/** Which pools an agent serves on which interfaces, and under which identity. */
export interface DhcpAgentSettings {
  /** The configured pools of the group, each with its interface. */
  readonly configs: readonly AgentNetworkConfig[];
  /** Unique to this run of this replica. */
  readonly identity: string;
  readonly election: ElectionTimes;
  /** True if there is no other replica. */
  readonly isAlone: boolean;
  /** True if pools are only followed and reported: no socket is opened, no address added and nothing sent. */
  readonly isDryRun: boolean;
}

export class DhcpAgent {
  readonly #settings: DhcpAgentSettings;
  readonly #ports: AgentPorts;
  readonly #configOf: ReadonlyMap<string, AgentNetworkConfig>;
  readonly #server: DhcpServer;
  readonly #pools: FollowedPools;
  readonly #sockets: PoolSockets;
  readonly #leadership: AgentLeadership;
  readonly #conflictProbes: ConflictProbes;
  readonly #rogueServers: RogueServers;
  readonly #ipv6: Ipv6OfNetworks;
  readonly #standbyGate: StandbyGate;
  readonly #reportedVersions: ReportedVersions;
  readonly #silence: SilentNetworks;
  readonly #uses: UsesOnNetworks;
  readonly #timers: (() => void)[] = [];
  #isStopping = false;

  constructor(settings: DhcpAgentSettings, ports: AgentPorts) {
    this.#settings = settings;
    this.#ports = ports;
    this.#configOf = new Map(settings.configs.map((config) => [config.ipPoolRef, config]));
    const { clock, observer, random, probeAddress, probeServers } = ports;
    const addressUsers = new AddressUsers({
      ...{ observer, nowMs: clock.nowMs, probe: probeAddress },
      decoysOf: (poolKey) => this.#server.decoysOf(poolKey, DECOYS, random),
    });
    this.#server = new DhcpServer({
      observer,
      ...(ports.packetLog !== undefined && { packetLog: ports.packetLog }),
      traffic: ports.traffic,
      captures: ports.captures,
      nowMs: ports.wallTimeMs,
      onBindingChanged: () => undefined,
      findUsers: addressUsers.findUsers,
      onDeclined: ({ poolName, macAddress, address }, usedBy) =>
        this.#pools.noteConflict(poolName, { macAddress, address, usedBy }),
    });
    this.#conflictProbes = new ConflictProbes({
      observer,
      nowMs: clock.nowMs,
      isLeader: () => this.#leadership.isLeader(),
      freshMs: () => this.#leadership.leaseDurationMs + PROBED_BY_LEADER_MS,
      findUsers: addressUsers.findUsers,
      onConflict: (pool, conflict) => this.#pools.noteConflict(pool, conflict),
      inject: (name, packet) => this.#answerAgain(name, packet),
    });
    this.#rogueServers = new RogueServers({
      ...{ observer, nowMs: clock.nowMs, random, probe: probeServers },
      onChange: () => this.#leadership.publish(),
    });
    this.#standbyGate = this.#createStandbyGate();
    this.#reportedVersions = new ReportedVersions({ nowMs: clock.nowMs, versionOf: (key) => this.#pools.versionOf(key) });
    this.#ipv6 = new Ipv6OfNetworks({
      ...{ ...ports, server: this.#server, standbyGate: this.#standbyGate },
      answerMode: (config) => this.#answerMode(config),
      isOutOfTouch: () => this.#isOutOfTouch(),
      isBehind: (poolKey) => this.#reportedVersions.isBehind(poolKey),
      publish: () => this.#leadership.publish(),
    });
    this.#silence = watchForSilence({
      ...{ clock, observer, isDryRun: settings.isDryRun, configOf: this.#configOf, findUsers: addressUsers.findUsers },
      followed: (key) => this.#pools.get(key),
      leasesOf: (key) => this.#server.leasesOf(key),
      isLeader: () => this.#leadership.isLeader(),
      publish: () => this.#leadership.publish(),
    });
    this.#uses = new UsesOnNetworks(settings.configs, {
      ...ports,
      findUsers: addressUsers.findUsers,
      ownerOf: (key, address) => this.#server.ownerOf(key, address),
      publish: () => this.#leadership.publish(),
    });
    this.#pools = this.#followPools();
    this.#sockets = this.#createSockets();
    this.#leadership = this.#createLeadership();
  }

  start(): void {
    const { clock } = this.#ports;
    this.#pools.start();
    this.#sockets.start();
    this.#leadership.start();
    this.#timers.push(
      every(clock, HOUSEKEEPING_INTERVAL_MS, () => this.#keepHouse()),
      every(clock, EXPIRY_SCAN_INTERVAL_MS, () => this.#forgetOld()),
    );
  }

  /** Stops answering, removes the server addresses, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const callOff of this.#timers) callOff();
    this.#uses.look(() => undefined);
    await this.#leadership.stop();
    this.#sockets.stop();
    this.#pools.stop();
  }

  get counters(): MessageCounters {
    return this.#server.counters;
  }

  isLeader(): boolean {
    return this.#leadership.isLeader();
  }

  /** For each pool, whether it is served from here. */
  report(): AgentReport {
    return new Map(
      this.#settings.configs.map(({ ipPoolRef: key, interfaceName }) => {
        const state = {
          interfaceName,
          followed: this.#pools.get(key),
          version: this.#pools.versionOf(key),
          socket: this.#sockets.stateOf(interfaceName),
          ipv6Problem: this.#sockets.ipv6ProblemOf(interfaceName),
          isSuspended: this.#leadership.isSuspended(key),
          isDryRun: this.#settings.isDryRun,
          addresses: this.#leadership.isLeader() ? this.#leadership.addresses : undefined,
          conflicts: this.#pools.conflictsOf(key),
          rogueServers: this.#rogueServers.on(interfaceName),
          routers: this.#ipv6.routersOf(key),
          declinedIpv6: this.#ipv6.declinedOf(key),
          observedUses: this.#uses.of(key),
          silentForMs: this.#silence.contactOf(key)?.silentForMs ?? 0,
        };
        return [key, reportOn(state)];
      }),
    );
  }

  leases(): Iterable<Lease> {
    return this.#server.leases();
  }

  /** Why the agent is not ready; empty if it is, whether leader or standby. */
  unready(): readonly string[] {
    const unsynced = this.#pools.unsynced();
    return unsynced.length > 0 ? [`not listed yet: ${describeNames([...unsynced])}`] : this.#troubles();
  }

  /** Call it when the addresses that the pod needs may have changed. */
  checkServerAddresses(): void {
    if (!this.#isStopping) this.#pools.checkServerAddresses();
  }

  #createStandbyGate(): StandbyGate {
    const takeOverMs = this.#settings.election.leaseDurationMs + TAKE_OVER_MS;
    return new StandbyGate({
      nowMs: this.#ports.clock.nowMs,
      leastWaitMs: () => (this.#isOutOfTouch() ? takeOverMs : 0),
      isInDoubt: (pool, macAddress) => this.#isInDoubt(pool, macAddress),
    });
  }

  #isOutOfTouch(): boolean {
    return this.#leadership.heardAgoMs() > OUT_OF_TOUCH_MS;
  }

  #followPools(): FollowedPools {
    return new FollowedPools(this.#settings.configs, {
      ...this.#ports,
      server: this.#server,
      // A probe may end after the sockets were closed.
      onChange: () => {
        if (this.#isStopping) return;
        this.#sockets.check();
        this.#leadership.check();
        this.#leadership.publish();
      },
      onFresh: (key, leases) => {
        const config = this.#configOf.get(key);
        if (config !== undefined && !this.#settings.isDryRun) this.#conflictProbes.noteFresh(config.interfaceName, leases);
      },
    });
  }

  #createSockets(): PoolSockets {
    const { clock, sockets, isolation, observer } = this.#ports;
    return new PoolSockets({
      configs: this.#settings.isDryRun ? [] : this.#settings.configs,
      pools: this.#pools,
      isolation,
      clock,
      sockets,
      observer,
      handlerOf: (config) => this.#handler(config),
      ipv6Of: (config) => this.#ipv6.of(config),
      onBurst: (durationNs) => {
        this.#server.endBurst();
        observer.observe({ kind: 'burst', durationNs });
      },
      onSendFailure: (interfaceName, { error, count }) => {
        this.#server.counters.drop('send-failed', count);
        observer.observe({ kind: 'replies-not-sent', interfaceName, error, count });
      },
      onStateChange: () => this.#leadership.publish(),
    });
  }

  #createLeadership(): AgentLeadership {
    const { identity, election, isAlone } = this.#settings;
    return new AgentLeadership({
      ...this.#ports,
      identity,
      times: election,
      isAlone,
      wantedAddresses: () => this.#wantedAddresses(),
      report: () => this.report(),
      troubles: () => this.#troubles(),
      goesLast: () => this.#silence.goesLast(),
      isSyncing: () => this.#pools.unsynced().length > 0,
      onOthersReport: (report, isOfOther) => this.#adopt(report, isOfOther),
      onHeard: () => this.#answerLeftToOthers(),
      onAddressAdded: (interfaceName) => this.#answerRecent(interfaceName),
      // The former leader may have known newer ones.
      onChange: (isLeader) => void (isLeader && this.#pools.refresh()),
    });
  }

  /** The server addresses of active pools that are not suspended, on interfaces that exist and are isolated. */
  #wantedAddresses(): ServerAddress[] {
    const { addresses, isolation } = this.#ports;
    if (this.#settings.isDryRun) return [];
    return this.#settings.configs.flatMap(({ interfaceName, ipPoolRef }) => {
      const followed = this.#pools.get(ipPoolRef);
      const interfaceIndex = addresses.indexOf(interfaceName);
      if (followed.kind !== 'active' || interfaceIndex === 0) return [];
      if (this.#leadership.isSuspended(ipPoolRef) || isolation.problemOf(interfaceName) !== undefined) return [];
      const { serverAddress, cidr } = followed.pool;
      return [{ interfaceName, interfaceIndex, address: serverAddress, prefixLength: cidr.prefixLength }];
    });
  }

  #handler(config: AgentNetworkConfig): DhcpPacketHandler {
    const { interfaceName, ipPoolRef } = config;
    const server = this.#server;
    const pools = () => server.poolAlone(ipPoolRef);
    const entry = { interfaceName, poolName: ipPoolRef };
    const byMode = {
      leader: server.handler(entry, pools, this.#leaderGate(interfaceName)),
      standby: server.handler(entry, pools, this.#standbyGateOf(config)),
      silent: server.handler(entry, () => []),
    };
    const contact = this.#silence.contactOf(ipPoolRef);
    return (packet, into, sender) => {
      const reply = byMode[this.#answerMode(config)](packet, into, sender);
      if (reply !== undefined) contact?.noteReply();
      return reply;
    };
  }

  #answerMode({ interfaceName, ipPoolRef }: AgentNetworkConfig): AnswerMode {
    return answerMode({
      isStopping: this.#isStopping,
      isSuspended: this.#leadership.isSuspended(ipPoolRef),
      followed: this.#pools.get(ipPoolRef),
      rogueServers: this.#rogueServers.on(interfaceName),
      isLeader: this.#leadership.isLeader(),
      hasAddress: this.#leadership.addresses.has(interfaceName),
    });
  }

  #leaderGate(interfaceName: string): AnswerGate {
    return {
      whyNotSent: (answer, packet) =>
        this.#conflictProbes.defer(interfaceName, answer, packet) ? 'address-being-probed' : undefined,
      isOpenTo: (lease) => !this.#conflictProbes.isFresh(lease),
    };
  }

  #standbyGateOf({ ipPoolRef: pool, interfaceName }: AgentNetworkConfig): AnswerGate {
    return {
      whyNotSent: (answer, packet) => {
        if (!this.#standbyGate.admit(answer, packet))
          return this.#finishesLater(interfaceName, answer, packet) ? 'address-being-probed' : 'standing-by';
        this.#ports.observer.observe({ kind: 'standby-answer', pool, macAddress: answer.client.macAddress });
        return undefined;
      },
      // Only the leader has the source address for ordinary datagrams.
      redirect: (answer) =>
        answer.destination.kind === 'unicast' ? { ...answer, destination: { ...answer.destination, kind: 'link' } } : answer,
    };
  }

  /** Finds out what keeps this standby from answering a client that retransmits. Returns true if the answer waits for a probe. */
  #finishesLater(interfaceName: string, answer: Parameters<AnswerGate['whyNotSent']>[0], packet: Uint8Array): boolean {
    const { client, pool } = answer;
    if (!this.#standbyGate.isUnanswered(pool.name, client.macAddress)) return false;
    if (!this.#isOutOfTouch()) return this.#conflictProbes.defer(interfaceName, answer, packet);
    // A rarely renewed Lease proves nothing: the API server may still be reachable.
    this.#leadership.ask();
    return false;
  }

  #isInDoubt(poolKey: string, macAddress: string): boolean {
    const lease = this.#server.leaseOf(poolKey, macAddress);
    return lease === undefined || this.#conflictProbes.isFresh(lease) || this.#reportedVersions.isBehind(poolKey);
  }

  /** Why pools cannot be served from here, whichever replica is leader. */
  #troubles(): string[] {
    if (this.#settings.isDryRun) return [];
    const problems = this.isLeader() ? this.#leadership.addresses.problems() : [];
    const sockets = this.#settings.configs.flatMap(({ ipPoolRef, interfaceName }) => {
      const { kind } = this.#sockets.stateOf(interfaceName);
      return this.#pools.get(ipPoolRef).kind === 'active' && kind !== 'serving'
        ? [`${ipPoolRef}: interface ${interfaceName} is ${kind}`]
        : [];
    });
    return [...problems, ...sockets];
  }

  #keepHouse(): void {
    if (this.#silence.look()) this.#leadership.stepDown([NO_MACHINE_REACHED]);
    if (!this.isLeader()) void this.#reportedVersions.keepUp(() => this.#pools.refresh());
    const interfaces = this.isLeader() ? this.#settings.configs.map(({ interfaceName }) => interfaceName) : [];
    const served = interfaces.filter((name) => this.#leadership.addresses.has(name));
    void this.#rogueServers.look(served);
    this.#uses.look((key, interfaceName) => (served.includes(interfaceName) ? this.#pools.probedPool(key) : undefined));
    this.#leadership.stepDownIfBroken();
  }

  #forgetOld(): void {
    this.#server.expireLeases(this.isLeader());
    this.#pools.expireConflicts();
    this.#conflictProbes.forgetOld();
    this.#standbyGate.forgetOld();
  }

  /** Adopts the findings in another leader's report. */
  #adopt(report: AgentReport, isOfOther: boolean): void {
    this.#reportedVersions.note(report);
    if (isOfOther) this.#silence.noteOtherLeader(report);
    for (const [poolKey, reported] of report) {
      const { conflicts = [], rogueServers } = reported;
      const config = this.#configOf.get(poolKey);
      if (config === undefined) continue;
      if (isOfOther) this.#ipv6.noteOtherLeader(poolKey, reported);
      for (const conflict of readReportedConflicts(conflicts)) {
        const isOurs = this.#server.leaseOf(poolKey, conflict.macAddress)?.address === conflict.address;
        if (isOurs) this.#pools.noteConflict(poolKey, conflict);
      }
      if (rogueServers !== undefined) this.#rogueServers.adopt(config.interfaceName, rogueServers);
    }
  }

  /** Answers clients that were left to better-informed replicas: the API server has just reported to this one. */
  #answerLeftToOthers(): void {
    if (this.isLeader()) return;
    for (const { interfaceName, ipPoolRef } of this.#settings.configs)
      for (const packet of this.#standbyGate.takeLeftToOthers(ipPoolRef)) this.#answerAgain(interfaceName, packet);
  }

  /** Answers messages that came while there was no leader, so that their clients need not retransmit. */
  #answerRecent(interfaceName: string): void {
    const asked = this.#settings.configs
      .filter((config) => config.interfaceName === interfaceName)
      .flatMap(({ ipPoolRef }) => this.#standbyGate.takeRecent(ipPoolRef));
    for (const packet of asked) this.#answerAgain(interfaceName, packet);
  }

  #answerAgain(interfaceName: string, packet: Uint8Array): void {
    this.#server.again(() => this.#sockets.inject(interfaceName, packet));
  }
}
