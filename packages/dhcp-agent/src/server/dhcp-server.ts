/**
 * The packet path: from octets to a queued reply, and what that means for the leases. It owns the lease table and the pools
 * as they are served; where pools and assignments come from is its caller's business.
 */
import {
  type Answer,
  type Assignment,
  type AssignmentChanges,
  answerOpenPacket,
  answerPacket,
  answerPreparedAmong,
  type ClientMessage,
  formatIpv4Address,
  type Ipv4Address,
  type Lease,
  type LeaseChange,
  LeaseTable,
  leaseExpiry,
  type MacAddress,
  type Pool,
  PreparedAnswers,
  type PreparedPool,
  type RecordAnswer,
  type ReplyAnswer,
  ServedPool,
} from '@vmdhcp/dhcp-allocator';
import type { LeaseEvent } from '../agent-event.js';
import type { PacketCaptures } from '../capture/packet-captures.js';
import { RateBudget } from '../limits/rate-budget.js';
import type { AgentObserver, DhcpPacketHandler, PacketLog, QueuedReply } from '../ports.js';
import type { FindAddressUsers } from '../probe/address-users.js';
import { decoyAddresses } from '../probe/decoy-addresses.js';
import type { AgentTraffic } from '../traffic/agent-traffic.js';
import type { Standing } from '../traffic/client-slots.js';
import type { DeclineIgnoreReason, SuppressReason } from './agent-packet-reasons.js';
import { DeclineChecks, type DeclineOutcome } from './decline-checks.js';
import { MessageCounters } from './message-counters.js';
import { NotedAnswers, NotedEntry } from './noted-answers.js';
import { OpenAnswers, type OpenPoolsPort } from './open-answers.js';
import { emptyReply, queuedReplyOf, type ReusedReply, writeQueued } from './queued-reply.js';

type Reply = ReplyAnswer;

export interface DhcpServerPorts {
  readonly observer: AgentObserver;
  /** Default: no packet is logged. */
  readonly packetLog?: PacketLog;
  readonly nowMs: () => number;
  /** Probes which hosts use an address. A DECLINE is believed only if this confirms it. */
  readonly findUsers: FindAddressUsers;
  /** The client declined its address and the network confirmed it: it has no lease until it is given another one. */
  readonly onDeclined: (lease: Lease, usedBy: MacAddress) => void;
  /** A client began or ceased to use its address. */
  readonly onBindingChanged: () => void;
  /** Pools that lease addresses to unknown clients too. Default: none. */
  readonly open?: OpenPoolsPort;
  /** Where it is noted what each client sent and got. Its time is that of a burst: `endBurst` has to be called after each. Default: nowhere. */
  readonly traffic?: AgentTraffic | undefined;
  /** Captures that may run. Default: none. */
  readonly captures?: PacketCaptures | undefined;
}

/** Where packets come in. */
export interface PacketEntry {
  readonly interfaceName: string;
  /** What packets are counted for that are of no other pool. Default: the first pool of the interface. */
  readonly poolName?: string;
}

/** What an answer has to pass before it counts. */
export interface AnswerGate {
  /** Why nothing comes of this answer; undefined: it goes out. Called once for each packet that would be answered or noted. */
  readonly whyNotSent: (
    answer: Extract<Answer, { readonly kind: 'reply' | 'noted' }>,
    packet: Uint8Array,
  ) => SuppressReason | undefined;
  /**
   * True: `whyNotSent` has nothing against an OFFER or ACK of this lease, and need not see it; nor is it redirected. Absent: it has to see
   * every answer.
   */
  readonly isOpenTo?: (lease: Lease) => boolean;
  /** The same reply to another destination. */
  readonly redirect?: (answer: Reply) => Reply;
}

interface ReadyPools {
  readonly of: readonly ServedPool[];
  /** Of the lease table. */
  readonly generation: number;
  /** Empty: no answer is prepared. */
  readonly pools: readonly PreparedPool[];
}

const NOT_READY: ReadyPools = { of: [], generation: -1, pools: [] };
const NO_PACKETS: PacketLog = { isActive: false, note: () => undefined };
const OPEN: AnswerGate = { whyNotSent: () => undefined, isOpenTo: () => true };
const NO_POOLS: readonly ServedPool[] = [];

/** A pool and what is made ready to answer for it. */
interface PoolOnServer {
  readonly served: ServedPool;
  readonly prepared: PreparedAnswers;
  /** The pool as the only one of an interface. */
  readonly alone: readonly [ServedPool];
}

/** Where packets come in, with what is kept there. */
interface PacketPath {
  readonly interfaceName: string;
  readonly entry: NotedEntry;
  readonly gate: AnswerGate;
  /** What the last packet was answered from; the next one is too, as long as pools and leases stay as they are. */
  ready: ReadyPools;
  /** Overwritten by each prepared reply. */
  readonly queued: ReusedReply;
}

export class DhcpServer {
  readonly counters = new MessageCounters();
  readonly #ports: DhcpServerPorts;
  readonly #table = new LeaseTable();
  readonly #pools = new Map<string, PoolOnServer>();
  readonly #offers = this.counters.idOf('discover', 'offer', '');
  readonly #acks = this.counters.idOf('request', 'ack', '');
  readonly #declines: DeclineChecks;
  /** Undefined: no pool is open. */
  readonly #open: OpenAnswers | undefined;
  /** DECLINEs that are not believed are counted; so many of them are logged. */
  readonly #doubtLines = new RateBudget({ perSecond: 0.2, burst: 10 });
  readonly #packetLog: PacketLog;
  readonly #noted: NotedAnswers;
  readonly #leaseOf = (poolName: string, macAddress: string) => this.#table.lookup(poolName, macAddress);
  /** What the packet being answered may need; made once, as a packet is answered before the next one comes. */
  readonly #serving: { pools: readonly ServedPool[]; into: Uint8Array; readonly leaseOf: DhcpServer['leaseOf'] };

  constructor(ports: DhcpServerPorts) {
    this.#ports = ports;
    this.#packetLog = ports.packetLog ?? NO_PACKETS;
    this.#declines = new DeclineChecks({
      nowMs: ports.nowMs,
      findUsers: ports.findUsers,
      onOutcome: (lease, interfaceName, outcome) => this.#onDeclineChecked(lease, interfaceName, outcome),
    });
    const { open, observer, nowMs, findUsers } = ports;
    this.#noted = new NotedAnswers({
      traffic: ports.traffic,
      captures: ports.captures,
      nowMs: ports.nowMs,
      standingOf: (poolName, macAddress, client) => this.#standingOf(poolName, macAddress, client),
    });
    const onLateOffer = this.#noted.noteLateOffer;
    this.#open =
      open &&
      new OpenAnswers({
        ...open,
        send: this.#sendingLate(open),
        observer,
        nowMs,
        findUsers,
        counters: this.counters,
        onLateOffer,
      });
    this.#serving = { pools: [], into: new Uint8Array(0), leaseOf: this.#leaseOf };
  }

  leaseOf(poolName: string, macAddress: string): Lease | undefined {
    return this.#table.lookup(poolName, macAddress);
  }

  leases(poolName?: string): Iterable<Lease> {
    return this.#table.leases(poolName);
  }

  /**
   * Serves the pool as it is now, to exactly these clients. What is handed over must be recorded already.
   * @param expiryOf - when a lease that is new here ends, where that is known from before.
   * @returns leases that are new or have another address, in a pool that was served before.
   */
  setPool(pool: Pool, assignments: Iterable<Assignment>, expiryOf?: (macAddress: string) => number | undefined): Lease[] {
    const before = this.#pools.get(pool.name);
    if (before?.served.pool !== pool) this.#pools.set(pool.name, madeReady(pool));
    const changes = this.#table.replacePool(pool.name, assignments);
    if (before !== undefined) return this.#noteChanges(changes);
    for (const { lease } of changes) this.#restore(lease, expiryOf?.(lease.macAddress));
    return [];
  }

  /**
   * Serves these clients of a pool that is served already otherwise than before, and all others as they are. What is handed over must be
   * recorded already.
   * @returns leases that are new or have another address.
   */
  changePool(poolName: string, changes: AssignmentChanges): Lease[] {
    return this.#noteChanges(this.#table.changePool(poolName, changes));
  }

  #noteChanges(changes: readonly LeaseChange[]): Lease[] {
    const fresh: Lease[] = [];
    for (const change of changes) {
      const { lease } = change;
      if (change.kind === 'added') fresh.push(lease);
      if (change.kind === 'changed' && change.previous.address !== lease.address) {
        fresh.push(lease);
        this.#observe('changed', lease, { previousAddress: formatIpv4Address(change.previous.address) });
      }
    }
    return fresh;
  }

  /** Serves the pool no more. */
  removePool(poolName: string): void {
    this.#pools.delete(poolName);
    this.#table.removePool(poolName);
  }

  /** The pools of that name that are served now, in that order. */
  poolsNamed(names: readonly string[]): readonly ServedPool[] {
    return names.flatMap((name) => this.#pools.get(name)?.served ?? []);
  }

  /** The pool of that name, if it is served now, as the only one of an interface. */
  poolAlone(name: string): readonly ServedPool[] {
    return this.#pools.get(name)?.alone ?? NO_POOLS;
  }

  /** So many addresses of the pool's subnet that no client has; fewer where so many are not found. @param random - 0 to less than 1. */
  decoysOf(poolName: string, count: number, random: () => number): readonly Ipv4Address[] {
    const pool = this.#pools.get(poolName)?.served.pool;
    const isAssigned = (address: Ipv4Address) =>
      this.#table.ownerOf(poolName, address) !== undefined || this.#open?.bindingAt(poolName, address) !== undefined;
    return pool === undefined ? [] : decoyAddresses(pool, { count, isAssigned, random });
  }

  /** Notes leases that have ended. */
  expireLeases(): void {
    for (const lease of this.#table.expire(this.#ports.nowMs())) this.#observe('expired', lease);
    this.#open?.noteEnded();
  }

  /** To be called after each burst of packets. */
  endBurst(): void {
    this.#noted.endBurst();
  }

  /** Answers packets that came in before: what they lead to is noted as a later answer. @param answer - hands them in. */
  again(answer: () => void): void {
    this.#noted.again(answer);
  }

  /** Answers no packet, and notes that another replica does. @param poolName - empty: no pool is known. */
  standbyHandler(interfaceName: string, poolName: () => string): DhcpPacketHandler {
    const entry = new NotedEntry(interfaceName);
    return (packet, _, sender) => {
      this.#noted.begin(packet, entry, sender);
      this.#noted.noteDropped('standing-by', poolName());
      if (this.#noted.isCapturing) this.#noted.capture(undefined, packet, this.poolAlone(poolName()));
      return undefined;
    };
  }

  /**
   * Answers what comes in on one interface. A failure in here costs one packet, never the process.
   * @param pools - asked for every packet, as pools come and go.
   */
  handler(entry: string | PacketEntry, pools: () => readonly ServedPool[], gate: AnswerGate = OPEN): DhcpPacketHandler {
    const { interfaceName, poolName = '' } = typeof entry === 'string' ? { interfaceName: entry } : entry;
    const noted = new NotedEntry(interfaceName, poolName);
    const path: PacketPath = { interfaceName, entry: noted, gate, ready: NOT_READY, queued: emptyReply() };
    return (packet, into, sender) => {
      try {
        this.#noted.begin(packet, noted, sender);
        this.#serving.pools = pools();
        this.#serving.into = into;
        const reply = this.#answerPrepared(packet, path) ?? this.#answer(packet, path);
        if (this.#noted.isCapturing) this.#noted.capture(reply, into, this.#serving.pools);
        return reply;
      } catch (error) {
        this.counters.drop('internal-error');
        this.#noted.noteDropped('internal-error', '');
        if (this.#noted.isCapturing) this.#noted.capture(undefined, into, this.#serving.pools);
        this.#ports.observer.observe({ kind: 'packet-failed', interfaceName, error });
        return undefined;
      }
    };
  }

  /** The quick path of nearly every packet; undefined: the packet needs the other one. */
  #answerPrepared(packet: Uint8Array, path: PacketPath): QueuedReply | undefined {
    const { gate, interfaceName, queued } = path;
    if (gate.isOpenTo === undefined || this.#packetLog.isActive) return undefined;
    const reply = answerPreparedAmong(packet, this.#readyPools(path), this.#serving.into);
    if (reply === undefined || !gate.isOpenTo(reply.lease)) return undefined;
    const { kind, lease, pool } = reply;
    this.counters.increment(kind === 'ack' ? this.#acks : this.#offers);
    if (kind === 'ack') {
      this.#observeBound(lease, interfaceName);
      this.#table.setExpiryOfFound(lease, leaseExpiry(pool, this.#noted.nowMs()));
    }
    this.#noted.noteGranted(reply);
    return writeQueued(queued, reply, pool);
  }

  #readyPools(path: PacketPath): readonly PreparedPool[] {
    const { pools } = this.#serving;
    const { generation } = this.#table;
    if (path.ready.of !== pools || path.ready.generation !== generation)
      path.ready = { of: pools, generation, pools: this.#makeReady(pools) };
    return path.ready.pools;
  }

  /** All pools of an interface, or none: which one a packet belongs to depends on all of them. */
  #makeReady(pools: readonly ServedPool[]): readonly PreparedPool[] {
    const ready = pools.flatMap((served) => {
      const known = this.#pools.get(served.pool.name);
      const leases = this.#table.indexOf(served.pool.name);
      return known?.served !== served || leases === undefined ? [] : { prepared: known.prepared, leases };
    });
    return ready.length === pools.length ? ready : [];
  }

  #answer(packet: Uint8Array, path: PacketPath): QueuedReply | undefined {
    const answer = this.#decide(packet);
    if (answer.kind === 'record') {
      this.#recordThenAnswer(answer, packet, path.interfaceName);
      return undefined;
    }
    const notSent = this.#whyNotSent(answer, packet, path.gate);
    const reply = this.#settle(answer, packet, { path, notSent });
    const isWaiting = answer.kind === 'reply' && notSent === undefined && reply === undefined;
    this.#noted.noteAnswer(answer, {
      notSent: isWaiting ? 'address-being-probed' : notSent,
      poolName: this.#serving.pools[0]?.pool.name ?? '',
    });
    return reply;
  }

  #settle(
    answer: Answer,
    packet: Uint8Array,
    { path: { interfaceName, gate }, notSent }: { readonly path: PacketPath; readonly notSent: SuppressReason | undefined },
  ): QueuedReply | undefined {
    if (this.#packetLog.isActive) {
      const poolName = this.#serving.pools[0]?.pool.name;
      this.#packetLog.note({ packet, answer, interfaceName, poolName, notSent });
    }
    if (notSent !== undefined) return undefined;
    switch (answer.kind) {
      case 'dropped':
        this.counters.drop(answer.reason);
        return undefined;
      case 'ignored':
        this.counters.count(answer.client.type, 'ignored', answer.reason);
        return undefined;
      case 'noted':
        this.#note(answer, interfaceName);
        return undefined;
      case 'reply':
        return this.#reply(gate.redirect?.(answer) ?? answer, interfaceName);
    }
  }

  #decide(packet: Uint8Array): Answer | RecordAnswer {
    if (this.#open === undefined) return answerPacket(packet, this.#serving);
    return answerOpenPacket(packet, {
      ...this.#serving,
      openPoolOf: this.#open.openPoolOf,
      nowMs: this.#ports.nowMs(),
    });
  }

  #recordThenAnswer(answer: RecordAnswer, packet: Uint8Array, interfaceName: string): void {
    if (this.#packetLog.isActive && answer.reply !== undefined)
      this.#packetLog.note({ packet, answer: answer.reply, interfaceName, poolName: answer.pool.name, notSent: undefined });
    const noteRecorded = this.#noted.laterOf(answer);
    void this.#open?.recordThenSend(answer, interfaceName).then(noteRecorded);
  }

  /** Captures replies that had to wait, as they are sent. */
  #sendingLate(open: OpenPoolsPort): OpenPoolsPort['send'] {
    return (interfaceName, replies) => {
      if (this.#noted.isCapturing) this.#noted.captureLate(interfaceName, replies, this.#pools.values());
      open.send(interfaceName, replies);
    };
  }

  #standingOf(poolName: string, macAddress: MacAddress, client: ClientMessage | undefined): Standing {
    if (this.#table.lookup(poolName, macAddress) !== undefined) return 'declared';
    return client !== undefined && this.#open?.hasLease(poolName, client) === true ? 'leased' : 'unknown';
  }

  #whyNotSent(answer: Answer, packet: Uint8Array, gate: AnswerGate): SuppressReason | undefined {
    if (answer.kind !== 'reply' && answer.kind !== 'noted') return undefined;
    const reason = gate.whyNotSent(answer, packet);
    if (reason !== undefined) this.counters.count(answer.client.type, 'ignored', reason);
    return reason;
  }

  #reply(answer: Reply, interfaceName: string): QueuedReply | undefined {
    if (this.#open?.waitsForProbe(answer, interfaceName) === true) return undefined;
    const { client, decision, pool, omittedOptions } = answer;
    this.counters.count(client.type, decision.kind, 'reason' in decision ? decision.reason : '');
    if (omittedOptions.length > 0) this.counters.omitOptions(omittedOptions.length);
    if (decision.kind === 'ack') this.#bind(decision.lease, pool, interfaceName);
    if (decision.kind === 'nak') {
      const claimed = client.requestedAddress ?? client.clientAddress;
      this.#observe(
        'refused',
        { poolName: pool.name, macAddress: client.macAddress, ...(claimed !== undefined && { address: claimed }) },
        { interface: interfaceName, reason: decision.reason },
      );
    }
    return queuedReplyOf(answer);
  }

  #bind(lease: Lease, pool: Pool, interfaceName: string): void {
    this.#observeBound(lease, interfaceName);
    this.#table.setExpiry(lease, leaseExpiry(pool, this.#noted.nowMs()));
  }

  #observeBound(lease: Lease, interfaceName: string): void {
    if (lease.expiresAtMs !== undefined) return;
    this.#observe('bound', lease, { interface: interfaceName });
    this.#ports.onBindingChanged();
  }

  #note({ client, decision, pool }: Extract<Answer, { readonly kind: 'noted' }>, interfaceName: string): void {
    const { lease } = decision;
    if (decision.kind === 'release') {
      this.counters.count('release', 'released', '');
      if (lease.expiresAtMs === undefined) return;
      this.#observe('released', lease, { interface: interfaceName });
      this.#table.setExpiry(lease, undefined);
      this.#ports.onBindingChanged();
      return;
    }
    if (pool.reservations.get(client.macAddress)?.address === lease.address) {
      // What a person has reserved stays reserved; a person has to see that another machine uses it.
      this.#doubtDecline(lease, { interface: interfaceName, reason: 'address-reserved' });
      return;
    }
    this.#declines.claim(lease, interfaceName);
  }

  #onDeclineChecked(lease: Lease, interfaceName: string, outcome: DeclineOutcome): void {
    if (!outcome.believed) {
      const { reason, error } = outcome;
      this.#doubtDecline(lease, { interface: interfaceName, reason, ...(error !== undefined && { err: error }) });
      return;
    }
    const { poolName, macAddress, address } = lease;
    // While the address was probed, the client may have got another one.
    if (this.#table.lookup(poolName, macAddress)?.address !== address) {
      if (this.#open?.onDeclined(lease, interfaceName, outcome.usedBy) === true) return;
      this.counters.count('decline', 'ignored', 'address-not-its-own');
      return;
    }
    const { usedBy } = outcome;
    this.counters.count('decline', 'declined', '');
    this.#observe('declined', lease, { interface: interfaceName, believed: true, usedBy });
    this.#table.changePool(poolName, { removed: [macAddress], assigned: [] });
    this.#ports.onDeclined(lease, usedBy);
  }

  /** A DECLINE that changes nothing. */
  #doubtDecline(
    lease: Lease,
    details: { readonly interface: string; readonly reason: DeclineIgnoreReason; readonly err?: string },
  ): void {
    this.counters.count('decline', 'ignored', details.reason);
    if (this.#doubtLines.take(this.#ports.nowMs())) this.#observe('declined', lease, { ...details, believed: false });
  }

  #observe(
    event: LeaseEvent,
    lease: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>,
    details: Readonly<Record<string, unknown>> = {},
  ): void {
    this.#ports.observer.observe({ kind: 'lease', event, lease, details });
  }

  #restore(lease: Lease, expiresAtMs: number | undefined): void {
    if (expiresAtMs !== undefined) this.#table.setExpiry(lease, expiresAtMs);
  }
}

function madeReady(pool: Pool): PoolOnServer {
  const served = new ServedPool(pool);
  return { served, prepared: new PreparedAnswers(served), alone: [served] };
}
