/**
 * The agent of one ClusterAgent as a machine on ports: DHCP on the management network, one leader among its replicas, and the
 * objects of hosts. The parts do not know each other; after any change, `#settle` updates all of them.
 */

import { describeKept } from '@vmdhcp/agent-process';
import { AgentLeadership, every } from '@vmdhcp/dhcp-agent';
import { BARE_METAL_API_VERSION, type HostEventOf } from '@vmdhcp/ippool-api/bare-metal/keys';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { type CacheSubscription, fencedClient, type KubernetesObject } from '@vmdhcp/kube-runtime';
import type { BoundAddresses, LeaseRelease } from '../binding/bound-addresses.js';
import { readClusterAgent } from '../host/cluster-agent-settings.js';
import { AddressWait } from './address-wait.js';
import { type AgentFacts, defaultSecretProblems, servingProblems } from './agent-problems.js';
import type { HostLeaseStore } from './directory-leases.js';
import { FollowedSecret } from './followed-secret.js';
import { HostDhcp } from './host-dhcp.js';
import { interfaceOf } from './host-pool.js';
import type { HostsPorts, HostsSettings } from './hosts-ports.js';
import { LeaderDuties } from './leader-duties.js';
import { type ManagementLink, readManagementLink } from './management-link.js';
import { NetworkFindings } from './network-findings.js';
import { ProblemLog } from './problem-log.js';
import { addedBy, hasFromElsewhere, leavingOthers } from './self-address.js';
import { SettingsInForce } from './settings-in-force.js';

const CHECK_INTERVAL_MS = 250;
const HOUSEKEEPING_INTERVAL_MS = 1_000;
const EXPIRY_SCAN_INTERVAL_MS = 2_000;

export class HostsMachine {
  readonly #settings: HostsSettings;
  readonly #ports: HostsPorts;
  readonly #clusterAgents: CacheSubscription;
  readonly #secret: FollowedSecret;
  readonly #inForce: SettingsInForce;
  readonly #dhcp: HostDhcp;
  readonly #leadership: AgentLeadership;
  readonly #duties: LeaderDuties<HostLeaseStore>;
  readonly #problems: ProblemLog;
  readonly #found: NetworkFindings;
  readonly #addressWait: AddressWait;
  readonly #timers: (() => void)[] = [];
  /** The interface that the ClusterAgent names. */
  #link: ManagementLink | undefined;
  /** The interface of the settings in force. */
  #servedLink: ManagementLink | undefined;
  #bound: BoundAddresses | undefined;
  #formerWriteFailures = 0;
  #leases: HostLeaseStore | undefined;
  #isStopping = false;

  constructor(settings: HostsSettings, ports: HostsPorts) {
    this.#settings = settings;
    this.#ports = ports;
    const { caches, clock, logger, clusterAgents, openLeases } = ports;
    const onChange = () => this.#settle();
    this.#clusterAgents = caches.subscribe(Resource.clusterAgents, { onChange, onSynced: onChange });
    this.#secret = new FollowedSecret(caches, onChange);
    this.#inForce = new SettingsInForce(logger);
    this.#problems = new ProblemLog(logger);
    this.#dhcp = new HostDhcp({
      ...ports,
      mayAnswer: () => this.#mayAnswer(),
      onLeaseKept: (release, end) => this.#recordKept(release, describeKept(release, end)),
      onStateChange: onChange,
    });
    this.#leadership = this.#createLeadership();
    this.#found = new NetworkFindings({
      ...{ ...ports, nowMs: clock.nowMs, wallTimeMs: ports.nowMs, onChange },
      pool: () => this.#inForce.current?.pool,
      record: (event) => this.#record(event),
      clusterAgents: fencedClient(clusterAgents, () => this.isLeader()),
    });
    this.#addressWait = new AddressWait(clock, () => !this.#needsAddress() || this.#hasAddress());
    this.#duties = new LeaderDuties({
      clock,
      logger,
      openLeases,
      onLeases: (leases) => {
        this.#formerWriteFailures = this.writeFailures;
        this.#leases = leases;
        this.#dhcp.useLeases(leases?.open);
        this.#settle();
        this.#duties.leasesChanged();
      },
      createInventory: (onBindings) =>
        ports.createInventory({
          ...{ isLeading: () => this.isLeader(), leases: () => this.#dhcp.leases(), onBindings },
          mayBeMadeUp: (address) => this.#dhcp.mayBeMadeUp(address),
          whenAddressed: this.#addressWait.wait,
        }),
      onBindings: (bound) => {
        this.#bound = bound;
        this.#settle();
      },
    });
  }

  start(): void {
    const { clock } = this.#ports;
    this.#clusterAgents.start();
    this.#leadership.start();
    this.#timers.push(
      every(clock, CHECK_INTERVAL_MS, () => void this.#dhcp.check()),
      every(clock, HOUSEKEEPING_INTERVAL_MS, () => this.#keepHouse()),
      every(clock, EXPIRY_SCAN_INTERVAL_MS, () => this.#dhcp.expireLeases()),
    );
  }

  /** Stops answering and following hosts, closes the leases, removes `selfIp`, and only then lets another replica become leader. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const callOff of this.#timers) callOff();
    await this.#leadership.stop();
    this.#dhcp.stop();
    this.#secret.stop();
    this.#clusterAgents.stop();
  }

  get dhcp(): Pick<HostDhcp, 'counters' | 'views' | 'counts' | 'pool'> {
    return this.#dhcp;
  }

  /** The interface that is served; undefined if none. */
  get interfaceName(): string | undefined {
    return this.#inForce.current?.interfaceName;
  }

  /** The number of other DHCP servers on the network; undefined if not known here. */
  get otherServers(): number | undefined {
    return this.#found.otherServers;
  }

  /** The number of failed writes of leases, in all terms as leader. */
  get writeFailures(): number {
    return this.#formerWriteFailures + (this.#leases?.open.failures ?? 0);
  }

  isLeader(): boolean {
    return this.#leadership.isLeader();
  }

  /** A client got, released or lost a lease. */
  leasesChanged(): void {
    this.#duties.leasesChanged();
  }

  /** True if the DHCP server is switched off in the ClusterAgent. */
  get isOff(): boolean {
    return this.#inForce.reading?.kind === 'off';
  }

  /** True if this replica answers clients. */
  isServing(): boolean {
    return this.#mayAnswer() && this.#dhcp.pool !== undefined && this.#dhcp.socketState.kind === 'serving';
  }

  /** All reasons why the agent is not ready; empty if it is, whether leader or standby. */
  unready(): readonly string[] {
    const { caches } = this.#ports;
    if (!this.#clusterAgents.synced) return caches.unready();
    const facts = this.#facts();
    const ofLeader = this.isLeader() ? [...this.#problemsOfLeader(), ...this.#found.problems()] : [];
    return [...servingProblems(facts), ...defaultSecretProblems(facts), ...ofLeader, ...caches.unready()];
  }

  #facts(): AgentFacts {
    return {
      clusterAgentName: this.#settings.clusterAgentName,
      clusterAgent: this.#clusterAgent(),
      reading: this.#inForce.reading,
      link: this.#link,
      socket: this.#dhcp.socketState,
      secret: this.#secret.data,
      selfNeededFor: this.#selfNeededFor(),
    };
  }

  #selfNeededFor(): string | undefined {
    const self = this.#inForce.current?.self;
    return self && this.#ports.neededFor(self.address);
  }

  #clusterAgent(): KubernetesObject | undefined {
    return this.#clusterAgents.get(this.#settings.clusterAgentName);
  }

  /**
   * What prevents this replica from answering clients: another one may be able to. Settings in force are served, whatever the
   * object is changed to: that is the same for every replica.
   */
  #troubles(): string[] {
    if (!this.#clusterAgents.synced) return [];
    const { current } = this.#inForce;
    const facts = this.#facts();
    const ofServing = servingProblems(current === undefined ? facts : { ...facts, reading: current, link: this.#servedLink });
    return [...ofServing, ...(this.isLeader() ? this.#problemsOfLeader() : [])];
  }

  #problemsOfLeader(): string[] {
    const ofLeases = [this.#duties.problem, this.#leases?.open.problem].filter((problem) => problem !== undefined);
    return [...ofLeases, ...this.#leadership.addresses.problems()];
  }

  /** Asked for every packet. */
  #mayAnswer(): boolean {
    return this.#servedLink?.isUp === true && this.isLeader() && this.#hasAddress();
  }

  /** True if the served interface has the address of the server. */
  #hasAddress(): boolean {
    const settings = this.#inForce.current;
    if (settings === undefined || this.#servedLink === undefined) return false;
    return (
      hasFromElsewhere(settings.pool.serverAddress, this.#servedLink) || this.#leadership.addresses.has(settings.interfaceName)
    );
  }

  /** False if the ClusterAgent has no DHCP server: then its hosts are on other networks. */
  #needsAddress(): boolean {
    return !this.#clusterAgents.synced || this.#inForce.current !== undefined;
  }

  /** Updates everything for what is known now. Cheap: it is called at every change. */
  #settle(): void {
    if (this.#isStopping) return;
    this.#readAgain();
    const settings = this.#inForce.current;
    this.#dhcp.useInterface(this.#servedLink === undefined ? undefined : settings?.interfaceName);
    if (settings !== undefined && this.#bound !== undefined) this.#dhcp.serve({ pool: settings.pool, bound: this.#bound });
    else this.#dhcp.stopServing();
    this.#leadership.check();
    this.#addressWait.check();
    if (this.#clusterAgents.synced) {
      const facts = this.#facts();
      this.#problems.report([...servingProblems(facts), ...defaultSecretProblems(facts)]);
    }
  }

  #readAgain(): void {
    const object = this.#clusterAgent();
    const interfaceName = object && (interfaceOf(object) ?? this.#inForce.current?.interfaceName);
    this.#link = this.#readLink(interfaceName);
    this.#secret.follow(object === undefined ? {} : readClusterAgent(object).connection);
    this.#inForce.update(object, this.#link?.addresses);
    // Settings that cannot be served change nothing, even if they name another interface.
    const served = this.#inForce.current?.interfaceName;
    this.#servedLink = served === interfaceName ? this.#link : this.#readLink(served);
  }

  #readLink(interfaceName: string | undefined): ManagementLink | undefined {
    const { leaseDurationMs } = this.#settings.election;
    return interfaceName === undefined ? undefined : readManagementLink(this.#ports.links, interfaceName, leaseDurationMs / 1000);
  }

  #keepHouse(): void {
    this.#settle();
    this.#leadership.stepDownIfBroken();
    const [clusterAgent, counts, { interfaceName }] = [this.#clusterAgent(), this.#dhcp.counts(), this];
    this.#found.look(this.isServing() ? interfaceName : undefined);
    if (!this.isLeader() || clusterAgent === undefined) return;
    const { refused } = this.#dhcp;
    const [troubles, isServing] = [this.#troubles(), this.isServing()];
    this.#found.report(clusterAgent, { counts, refused, troubles, isServing, isOff: this.isOff });
  }

  #record(event: HostEventOf<'ClusterAgent'>): void {
    const clusterAgent = this.#clusterAgent();
    if (clusterAgent === undefined) return;
    const { name, uid } = clusterAgent.metadata;
    this.#ports.events.record({ apiVersion: BARE_METAL_API_VERSION, kind: 'ClusterAgent', name, ...(uid && { uid }) }, event);
  }

  #recordKept({ hostStatus: name }: LeaseRelease, message: string): void {
    const event: HostEventOf<'HostStatus'> = { type: 'Warning', reason: 'LeaseKept', message };
    this.#ports.events.record({ apiVersion: BARE_METAL_API_VERSION, kind: 'HostStatus', name }, event);
  }

  #end(): Promise<void> {
    this.#found.forget();
    return this.#duties.end();
  }

  #createLeadership(): AgentLeadership {
    const { identity, election, isAlone } = this.#settings;
    const { clock, random, lease, links, observer } = this.#ports;
    const addresses = leavingOthers(this.#ports.addresses, links, election.leaseDurationMs / 1000);
    return new AgentLeadership({
      ...{ clock, random, addresses, lease, observer, identity, times: election, isAlone },
      wantedAddresses: () =>
        this.#found.free(this.#selfNeededFor() === undefined ? addedBy(this.#inForce.current, this.#servedLink) : []),
      report: () => new Map(),
      troubles: () => this.#troubles(),
      isSyncing: () => !this.#clusterAgents.synced,
      onOthersReport: () => undefined,
      onHeard: () => undefined,
      onAddressAdded: () => this.#settle(),
      onChange: (isLeader) => {
        if (isLeader) this.#duties.begin();
        else void this.#end();
      },
      finish: () => this.#end(),
    });
  }
}
