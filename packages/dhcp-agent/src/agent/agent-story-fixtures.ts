/**
 * Plays one numbered story of agents: pods freeze, lose interfaces and the API server, writes are slow and ambiguous, Leases are deleted or renewed
 * less often, pools move between groups, the wall clock is set, while clients ask for their addresses. It checks three laws:
 * - no address is ever on two interfaces, whatever happens;
 * - each reply on the wire offers a client the address that its IPPool records for it;
 * - a client that retransmits every second is answered within `ANSWER_MS`, if one replica could answer all that time.
 * At the end all is quiet, and each pool has its server address on one interface.
 */

import { formatIpv4Address, type Ipv4Address, readMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  AGENT_REPORT_ANNOTATION,
  formatRenewPeriodMs,
  parseAgentReport,
  parseSuspendedPools,
  RENEW_PERIOD_ANNOTATION,
  SUSPENDED_POOLS_ANNOTATION,
  SUSPENDED_POOLS_SEEN_ANNOTATION,
} from '@vmdhcp/ippool-api/agent';
import { type Random, randomFrom } from '@vmdhcp/kube-runtime/testing';
import type { FakeGroupLease } from '../testing/fake-group-lease.js';
import type { SentReply } from '../testing/fake-network.js';
import type { FakePod } from '../testing/fake-pod.js';
import { AgentWorld, clientPacket, ip, suspend, type WorldPool } from './agent-world-fixtures.js';

export interface StoryFault {
  readonly kind: 'double-owner' | 'unanswered' | 'other';
  readonly message: string;
}

/**
 * A replica that the API server reports to answers a retransmission. One that hears nothing waits until the client has retransmitted for as
 * long as others need to take over: 2.75 s and a quarter. With a retransmission every 0.9 to 1.1 s, that one comes by then.
 */
export const ANSWER_MS = 4_500;
/**
 * The kernel takes no deadline: a process that was frozen in its call adds an address too late, and removes it as soon as it wakes.
 */
const MOST_OVERLAP_MS = 20;
const EVENTFUL_MS = 30_000;
/** A replica waits for a Lease that was created again, and once more if the controller annotates it meanwhile. */
const QUIET_MS = 25_000;
/** A pod counts as able to answer when nothing has happened to it for this long. */
const SETTLE_MS = 1_000;
/** After a fault of its kernel or its clock a pod is spared for this long. */
const SPARED_MS = 8_000;
/** The renewal periods that the controller may set; undefined for the agents' own period. */
const RENEW_PERIODS_MS = [undefined, 500, 2_000, 6_000];
/** The duration of a Lease that is renewed every six seconds. */
const LONGEST_LEASE_MS = 9_350;
const SAMPLE_MS = 100;
const MACS_PER_POOL = 24;
const HOUR_MS = 3_600_000;

interface Attempt {
  readonly pool: WorldPool;
  readonly macAddress: string;
  readonly xid: number;
  readonly sinceMs: number;
}

/** Why a pod cannot answer clients of a pool, or since when it can. */
type Ability = { readonly sinceMs: number } | undefined;

/** A reply as the client sees it. */
export type HeardReply = Pick<SentReply, 'owner' | 'type' | 'address'> & Pick<SentReply['message'], 'xid' | 'chaddr'>;

/** Transforms a reply of an agent into the one on the wire. */
export type Wire = (reply: HeardReply) => HeardReply;

class AgentStory {
  readonly #random: Random;
  readonly #wire: Wire;
  readonly #world = new AgentWorld();
  readonly #groups: Group[] = [];
  readonly #faults: StoryFault[] = [];
  /** Transactions of clients that were offered their address. */
  readonly #answered = new Set<number>();
  /** By address: the client that it was offered to. */
  readonly #owners = new Map<Ipv4Address, string>();
  readonly #busy = new Set<string>();
  readonly #able = new Map<string, Ability>();
  readonly #stopped = new Set<FakePod>();
  readonly #sparedUntilMs = new Map<FakePod, number>();
  readonly #disturbedAtMs = new Map<FakePod, number>();
  /** A pod that starts cannot know of a Lease that was deleted before, so a story has either new pods or deleted Leases. */
  readonly #hasRestarts: boolean;
  #names = 0;
  #xid = 1;
  #turn = 0;
  #isQuiet = false;

  constructor(seed: number, wire: Wire) {
    this.#random = randomFrom(seed);
    this.#wire = wire;
    this.#hasRestarts = this.#chance(0.5);
    for (let pools = 1 + this.#random(2); pools > 0; pools--) this.#addPool();
    for (let groups = this.#chance(0.4) ? 2 : 1; groups > 0; groups--) this.#addGroup();
  }

  async play(): Promise<readonly StoryFault[]> {
    const { clock } = this.#world;
    this.#repeat(SAMPLE_MS, () => this.#sample());
    this.#repeat(200, () => this.#control());
    clock.after(6_000, () => this.#ask());
    clock.after(3_000, () => this.#disturb());
    await this.#world.pass(EVENTFUL_MS);
    this.#isQuiet = true;
    for (const pod of this.#world.pods) pod.isCutOff = false;
    await this.#world.pass(QUIET_MS);
    this.#checkEnd();
    return this.#faults;
  }

  #addPool(): void {
    const pool = this.#world.addPool();
    const number = this.#world.pools.length - 1;
    const macs = Array.from({ length: MACS_PER_POOL }, (_, index) => macOf(number, index));
    this.#world.record(pool, Object.fromEntries(macs.map((mac) => [formatIpv4Address(addressOf(number, mac)), mac])));
    pool.network.onReply = ({ message: { xid, chaddr }, owner, type, address }) =>
      this.#hear(number, this.#wire({ owner, type, address, xid, chaddr }));
  }

  #hear(pool: number, { owner, type, address, xid, chaddr }: HeardReply): void {
    const macAddress = readMacAddress(chaddr);
    const text = `${owner} sent ${macAddress} ${type} of ${formatIpv4Address(address)}`;
    const former = this.#owners.get(address) ?? macAddress;
    this.#owners.set(address, macAddress);
    if (former !== macAddress) this.#faults.push({ kind: 'double-owner', message: `${text}, which ${former} was offered` });
    else if (type !== 'offer' || address !== addressOf(pool, macAddress))
      this.#faults.push({ kind: 'other', message: `${text}, which the IPPool does not record for it` });
    else this.#answered.add(xid);
  }

  #addGroup(): void {
    const lease = this.#world.addGroup();
    lease.createdMs = LONGEST_LEASE_MS;
    const [first] = this.#world.pools;
    // Two groups share the first pool, which moves between them; the others are the first group's.
    const pools = this.#groups.length === 0 ? this.#world.pools : first === undefined ? [] : [first];
    const group: Group = { lease, pools, suspended: new Set(), runsOutAtMs: Number.POSITIVE_INFINITY, version: '' };
    if (this.#groups.length > 0 && first !== undefined) group.suspended.add(first.key);
    this.#groups.push(group);
    suspend(lease, [...group.suspended], ++this.#turn);
    for (let pods = 2 + this.#random(2); pods > 0; pods--) this.#startPod(group);
  }

  #startPod(group: Group): void {
    const pod = this.#world.startPod(`pod-${++this.#names}`, group.lease, {
      pools: group.pools,
      random: () => this.#random(1_000_000) / 1_000_000,
    });
    this.#disturbed(pod);
    // One fault at a time: nothing helps a process that is frozen in its call to the kernel, and again before it can undo the call.
    pod.process.stallMs = () => (this.#strikes(pod, 0.000_2) ? this.#random(4_000) : 0);
    pod.kernel.callMs = () => (this.#strikes(pod, 0.03) ? this.#random(4_000) : this.#random(3));
    pod.kernel.failure = () =>
      this.#strikes(pod, 0.03) ? { error: new Error('ENOBUFS'), isDone: this.#chance(0.5) } : undefined;
    pod.fate = () => this.#fate();
    pod.watchLagMs = () => (!this.#isQuiet && this.#chance(0.1) ? this.#random(3_000) : this.#random(30));
  }

  #strikes(pod: FakePod, probability: number): boolean {
    const nowMs = this.#world.clock.nowMs();
    if (this.#isQuiet || nowMs < (this.#sparedUntilMs.get(pod) ?? 0)) return false;
    if (this.#random(1_000_000) >= probability * 1_000_000) return false;
    this.#sparedUntilMs.set(pod, nowMs + SPARED_MS);
    return true;
  }

  #fate() {
    const quick = { thereMs: this.#random(20), backMs: this.#random(20) };
    if (this.#isQuiet || !this.#chance(0.15)) return quick;
    if (this.#chance(0.5)) return { thereMs: this.#random(3_000), backMs: this.#random(1_000) };
    return { ...quick, lost: this.#chance(0.5) ? ('request' as const) : ('answer' as const) };
  }

  /** Random faults, every second or so. */
  #disturb(): void {
    if (this.#isQuiet) return;
    const live = this.#world.pods.filter(({ process }) => !process.isDead);
    const pod = live[this.#random(live.length)];
    if (pod !== undefined) this.#disturbPod(pod);
    this.#world.clock.after(100 + this.#random(2_500), () => this.#disturb());
  }

  #disturbPod(pod: FakePod): void {
    const happenings = [
      () => pod.process.freeze(50 + this.#random(8_000)),
      () => this.#cutOff([pod], 500 + this.#random(10_000)),
      () => this.#cutOff(this.#world.pods, 500 + this.#random(8_000)),
      () => this.#loseLink(pod),
      () => {
        pod.wallOffsetMs += this.#chance(0.5) ? HOUR_MS : -HOUR_MS;
      },
      () => this.#deleteLeaseOrRestart(pod),
      () => this.#movePool(),
      () => this.#changeRenewPeriod(this.#groupOf(pod)),
    ];
    happenings[this.#random(happenings.length)]?.();
  }

  #cutOff(pods: readonly FakePod[], ms: number): void {
    for (const pod of pods) pod.isCutOff = true;
    this.#world.clock.after(ms, () => {
      for (const pod of pods) pod.isCutOff = false;
    });
  }

  #loseLink(pod: FakePod): void {
    const group = this.#groupOf(pod);
    const { interfaceName } = group.pools[this.#random(group.pools.length)] as WorldPool;
    this.#disturbed(pod);
    pod.kernel.removeLink(interfaceName);
    this.#world.clock.after(this.#chance(0.3) ? 0 : this.#random(5_000), () => {
      this.#disturbed(pod);
      if (pod.kernel.indexOf(interfaceName) === 0) pod.kernel.addLink(interfaceName);
    });
  }

  #deleteLeaseOrRestart(pod: FakePod): void {
    const group = this.#groupOf(pod);
    if (!this.#hasRestarts) {
      group.lease.delete();
      return;
    }
    this.#disturbed(pod);
    if (this.#chance(0.5)) pod.process.kill();
    else void pod.agent.stop();
    this.#stopped.add(pod);
    this.#startPod(group);
  }

  #changeRenewPeriod({ lease }: Group): void {
    const periodMs = RENEW_PERIODS_MS[this.#random(RENEW_PERIODS_MS.length)];
    if (lease.stored === undefined) return;
    lease.annotate({ [RENEW_PERIOD_ANNOTATION]: periodMs === undefined ? undefined : formatRenewPeriodMs(periodMs) });
  }

  /** The first pool moves to the other group, in the steps of the controller. */
  #movePool(): void {
    const [from, to] = this.#groups.toSorted((one, other) => one.suspended.size - other.suspended.size);
    const [pool] = this.#world.pools;
    if (from === undefined || pool === undefined) return;
    if (to !== undefined) from.suspended.add(pool.key);
    else if (!from.suspended.delete(pool.key)) from.suspended.add(pool.key);
  }

  /** The controller writes suspensions into the Leases; a group serves the pool when the other one has released it. */
  #control(): void {
    for (const group of this.#groups) {
      this.#watchLease(group);
      if (!isWritten(group)) suspend(group.lease, [...group.suspended], ++this.#turn);
    }
    const [pool] = this.#world.pools;
    if (pool === undefined || this.#groups.length < 2) return;
    if (this.#groups.every((group) => group.suspended.has(pool.key) && this.#hasLeft(group, pool)))
      this.#groups[this.#random(2)]?.suspended.delete(pool.key);
  }

  /** A Lease has expired when it has not changed for its duration. Deleting it does not end the leadership. */
  #watchLease(group: Group): void {
    const { stored } = group.lease.stored ?? {};
    if (stored === undefined || stored.version === group.version) return;
    group.version = stored.version;
    group.runsOutAtMs = this.#world.clock.nowMs() + stored.record.leaseDurationMs;
  }

  #hasLeft(group: Group, pool: WorldPool): boolean {
    const { stored, annotations = {} } = group.lease.stored ?? {};
    if (stored === undefined || !isWritten(group)) return false;
    if (stored.record.holder === '' || this.#world.clock.nowMs() >= group.runsOutAtMs) return true;
    const report = parseAgentReport(annotations[AGENT_REPORT_ANNOTATION]).get(pool.key);
    const isRead = annotations[SUSPENDED_POOLS_SEEN_ANNOTATION] === annotations[SUSPENDED_POOLS_ANNOTATION];
    return isRead && report?.serving === false && report.reason !== 'Draining';
  }

  /** A client asks for its address, and again every second until it is offered. */
  #ask(): void {
    const { clock, pools } = this.#world;
    const pool = pools[this.#random(pools.length)] as WorldPool;
    const macAddress = macOf(pools.indexOf(pool), this.#random(MACS_PER_POOL));
    if (!this.#busy.has(macAddress)) {
      this.#busy.add(macAddress);
      const attempt = { pool, macAddress, xid: ++this.#xid, sinceMs: clock.nowMs() };
      this.#send(attempt);
      clock.after(ANSWER_MS, () => this.#checkAnswered(attempt));
    }
    clock.after(100 + this.#random(600), () => this.#ask());
  }

  #send(attempt: Attempt): void {
    const { pool, macAddress, xid, sinceMs } = attempt;
    const { clock } = this.#world;
    if (this.#answered.has(xid) || clock.nowMs() - sinceMs >= ANSWER_MS) return;
    const secs = Math.floor((clock.nowMs() - sinceMs) / 1000);
    pool.network.broadcast(clientPacket('discover', macAddress, { xid, secs }));
    clock.after(900 + this.#random(200), () => this.#send(attempt));
  }

  #checkAnswered({ pool, macAddress, xid, sinceMs }: Attempt): void {
    // A second attempt of this client would look like a retransmission of this one.
    this.#world.clock.after(95_000, () => this.#busy.delete(macAddress));
    if (this.#answered.has(xid)) return;
    for (const pod of this.#world.pods) {
      const ability = this.#able.get(`${pod.owner} ${pool.key}`);
      if (ability === undefined || ability.sinceMs > sinceMs) continue;
      const message = `${macAddress} asked from ${sinceMs} ms on, and ${pod.owner} could have answered since ${ability.sinceMs}`;
      this.#faults.push({ kind: 'unanswered', message });
    }
  }

  #sample(): void {
    const nowMs = this.#world.clock.nowMs();
    for (const pod of this.#world.pods) {
      for (const { key } of this.#groupOf(pod).pools) {
        const id = `${pod.owner} ${key}`;
        const isAble = this.#canAnswer(pod, key);
        this.#able.set(id, isAble ? (this.#able.get(id) ?? { sinceMs: nowMs }) : undefined);
      }
    }
  }

  #canAnswer(pod: FakePod, poolKey: string): boolean {
    const { process } = pod;
    if (process.isDead || process.isFrozen || this.#stopped.has(pod)) return false;
    if (this.#world.clock.nowMs() - (this.#disturbedAtMs.get(pod) ?? 0) < SETTLE_MS) return false;
    const { stallMs } = process;
    process.stallMs = () => 0;
    const { serving, reason } = pod.agent.report().get(poolKey) ?? { serving: false };
    process.stallMs = stallMs;
    return serving || reason === 'NotLeading' || reason === 'AddressFailed';
  }

  #checkEnd(): void {
    for (const message of this.#world.overlaps(MOST_OVERLAP_MS)) this.#faults.push({ kind: 'double-owner', message });
    for (const pool of this.#world.pools) {
      const serving = this.#groups.filter(({ pools, suspended }) => pools.includes(pool) && !suspended.has(pool.key));
      const holders = this.#world.holders(pool);
      if (serving.length !== holders.length)
        this.#faults.push({
          kind: 'other',
          message: `${pool.key} is on the interfaces of ${holders.length} pods (${holders.join()}) after ${QUIET_MS} ms of quiet, and ${serving.length} groups serve it`,
        });
    }
  }

  #groupOf(pod: FakePod): Group {
    return this.#groups.find(({ lease }) => lease === pod.lease) as Group;
  }

  #disturbed(pod: FakePod): void {
    this.#disturbedAtMs.set(pod, this.#world.clock.nowMs());
  }

  #chance(probability: number): boolean {
    return this.#random(1_000) < probability * 1_000;
  }

  #repeat(intervalMs: number, run: () => void): void {
    run();
    this.#world.clock.after(intervalMs, () => this.#repeat(intervalMs, run));
  }
}

interface Group {
  readonly lease: FakeGroupLease;
  readonly pools: readonly WorldPool[];
  readonly suspended: Set<string>;
  runsOutAtMs: number;
  version: string;
}

function macOf(pool: number, index: number): string {
  return `02:00:00:00:0${pool}:${index.toString(16).padStart(2, '0')}`;
}

/** The address that the IPPool records for a client. */
function addressOf(pool: number, macAddress: string): Ipv4Address {
  return ip(`10.0.${pool}.${10 + Number.parseInt(macAddress.slice(-2), 16)}`);
}

/** True if the Lease suspends the pools that the group must not serve. */
function isWritten({ lease, suspended }: Group): boolean {
  const text = lease.stored?.annotations[SUSPENDED_POOLS_ANNOTATION];
  return lease.stored !== undefined && isSameSet(parseSuspendedPools(text), suspended);
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every((key) => other.has(key));
}

/**
 * Plays the story of this number.
 * @param wire - the replies of faulty agents, which the story must detect. Default: replies are not changed.
 * @returns the violations; empty if there are none.
 */
export async function playAgentStory(seed: number, wire: Wire = (reply) => reply): Promise<readonly StoryFault[]> {
  return await new AgentStory(seed, wire).play();
}
