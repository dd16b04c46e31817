/**
 * The packet path: from octets to a queued reply, and its effect on the leases. It owns the lease table and the served pools; its caller provides
 * pools and assignments.
 */
import {
  type Answer,
  type Assignment,
  type AssignmentChanges,
  answerOpenPacket,
  answerPacket,
  answerPreparedAmong,
  type Ipv4Address,
  type Lease,
  type LeaseTable,
  leaseExpiry,
  type MacAddress,
  type NewStanding,
  type Pool,
  type RecordAnswer,
  type ReplyAnswer,
  type ServedPool,
} from '@vmdhcp/dhcp-allocator';
import type { PacketCaptures } from '../capture/packet-captures.js';
import type { DhcpPacketHandler, PacketLogPort, QueuedReply } from '../ports.js';
import { decoyAddresses } from '../probe/decoy-addresses.js';
import type { AgentTraffic } from '../traffic/agent-traffic.js';
import type { Standing } from '../traffic/client-slots.js';
import type { SuppressReason } from './agent-packet-reasons.js';
import { DeclaredLeases, type DeclaredLeasesPorts } from './declared-leases.js';
import type { LeaseEnd } from './lease-ends.js';
import { MessageCounters } from './message-counters.js';
import { NewClientLimits } from './new-client-limits.js';
import { NotedAnswers, NotedEntry } from './noted-answers.js';
import { OpenAnswers, type OpenPoolsPort } from './open-answers.js';
import { PoolsOnServer, ReadyPools } from './pools-on-server.js';
import { emptyReply, queuedReplyOf, type ReusedReply, writeQueued } from './queued-reply.js';

type Reply = ReplyAnswer;

/** What the server of one agent uses: leases, open pools, logs and captures. */
export interface DhcpServerPorts extends Omit<DeclaredLeasesPorts, 'counters' | 'onOtherDeclined'> {
  /** Default: no packet is logged. */
  readonly packetLog?: PacketLogPort;
  /** Pools that also lease addresses to unknown clients. Default: none. */
  readonly open?: OpenPoolsPort;
  /** Notes the messages and answers of each client. It reads the time once for each burst, so call `endBurst` after each. Optional. */
  readonly traffic?: AgentTraffic | undefined;
  /** Running captures. Optional. */
  readonly captures?: PacketCaptures | undefined;
}

/** Where packets come in. */
export interface PacketEntry {
  readonly interfaceName: string;
  /** The pool for counting packets that belong to no pool. Default: the first pool of the interface. */
  readonly poolName?: string;
}

/** The gate that an answer must pass before it takes effect. */
export interface AnswerGate {
  /** Why this answer is not sent; undefined if it is. Called once for each packet that would be answered or noted. */
  readonly whyNotSent: (
    answer: Extract<Answer, { readonly kind: 'reply' | 'noted' }>,
    packet: Uint8Array,
  ) => SuppressReason | undefined;
  /** True if an OFFER or ACK of this lease may bypass `whyNotSent`, and is not redirected. Absent if every answer must pass it. */
  readonly isOpenTo?: (lease: Lease) => boolean;
  /** Changes the destination of a reply. */
  readonly redirect?: (answer: Reply) => Reply;
}

const NO_PACKETS: PacketLogPort = { isActive: false, note: () => undefined };
const OPEN: AnswerGate = { whyNotSent: () => undefined, isOpenTo: () => true };

/** A place where packets come in, with its state. */
interface PacketPath {
  readonly interfaceName: string;
  readonly gate: AnswerGate;
  /** The prepared answers for the last packet, which are valid until pools or leases change. */
  readonly ready: ReadyPools;
  /** Overwritten by each prepared reply. */
  readonly queued: ReusedReply;
}

export class DhcpServer {
  readonly counters = new MessageCounters();
  readonly #ports: DhcpServerPorts;
  readonly #leases: DeclaredLeases;
  readonly #table: LeaseTable;
  readonly #pools: PoolsOnServer;
  readonly #offers = this.counters.idOf('discover', 'offer', '');
  readonly #acks = this.counters.idOf('request', 'ack', '');
  /** Undefined if no pool is open. */
  readonly #open: OpenAnswers | undefined;
  readonly #newClients = new NewClientLimits();
  readonly #admits = (standing: NewStanding) => this.#newClients.admits(standing, this.#ports.nowMs());
  readonly #packetLog: PacketLogPort;
  readonly #noted: NotedAnswers;
  readonly #leaseOf = (poolName: string, macAddress: string) => this.#table.lookup(poolName, macAddress);
  /** The context of the current packet; one object is reused, because a packet is answered before the next one comes. */
  readonly #serving: { pools: readonly ServedPool[]; into: Uint8Array; readonly leaseOf: DhcpServer['leaseOf'] };

  constructor(ports: DhcpServerPorts) {
    this.#ports = ports;
    this.#packetLog = ports.packetLog ?? NO_PACKETS;
    const { open, observer, nowMs, findUsers, onDeclined, onBindingChanged } = ports;
    this.#leases = new DeclaredLeases({
      ...{ observer, nowMs, findUsers, onDeclined, onBindingChanged, counters: this.counters },
      onOtherDeclined: (lease, interfaceName, usedBy) => this.#open?.onDeclined(lease, interfaceName, usedBy) === true,
    });
    this.#table = this.#leases.table;
    this.#pools = new PoolsOnServer(this.#table);
    this.#noted = new NotedAnswers({
      traffic: ports.traffic,
      captures: ports.captures,
      nowMs: ports.nowMs,
      standingOf: (poolName, macAddress) => this.#standingOf(poolName, macAddress),
    });
    const onLateOffer = this.#noted.noteLateOffer;
    this.#open =
      open &&
      new OpenAnswers({
        ...open,
        send: this.#sendingLate(open),
        again: (name, packet) => this.again(() => open.again?.(name, packet)),
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
   * Serves this version of the pool to exactly these clients. The assignments must already be recorded.
   * @param expiryOf - when a new lease ends, if that is known from before.
   * @returns leases that are new or have another address, in a pool that was served before.
   */
  setPool(pool: Pool, assignments: Iterable<Assignment>, expiryOf?: (macAddress: string) => number | undefined): Lease[] {
    if (this.#pools.set(pool)) return this.#leases.replace(pool.name, assignments);
    this.#leases.restore(pool.name, assignments, expiryOf);
    return [];
  }

  /**
   * Changes the assignments of these clients in a served pool, and leaves all others. The assignments must already be recorded.
   * @returns leases that are new or have another address.
   */
  changePool(poolName: string, changes: AssignmentChanges): Lease[] {
    return this.#leases.change(poolName, changes);
  }

  /** Stops serving the pool. */
  removePool(poolName: string): void {
    this.#pools.remove(poolName);
    this.#table.removePool(poolName);
  }

  /** The served pools with these names, in that order. */
  poolsNamed(names: readonly string[]): readonly ServedPool[] {
    return this.#pools.named(names);
  }

  /** The pool of that name, if it is served now, as the only one of an interface. */
  poolAlone(name: string): readonly ServedPool[] {
    return this.#pools.alone(name);
  }

  /** The declared client that has an address. */
  ownerOf(poolName: string, address: Ipv4Address): MacAddress | undefined {
    return this.#table.ownerOf(poolName, address)?.macAddress;
  }

  /** This many addresses of the pool's subnet that no client has; fewer if there are not as many. @param random - 0 to less than 1. */
  decoysOf(poolName: string, count: number, random: () => number): readonly Ipv4Address[] {
    const pool = this.#pools.get(poolName)?.pool;
    const isAssigned = (address: Ipv4Address) =>
      this.#table.ownerOf(poolName, address) !== undefined || this.#open?.bindingAt(poolName, address) !== undefined;
    return pool === undefined ? [] : decoyAddresses(pool, { count, isAssigned, random });
  }

  /** The leases of declared clients, in no particular order. */
  leasesOf(poolName: string): Iterable<Lease> {
    return this.#table.leases(poolName);
  }

  /** Notes leases that have ended. @param isLeader - false if another replica answers the clients: then their leases end without a word */
  expireLeases(isLeader = true): void {
    this.#leases.expire(isLeader);
    this.#open?.noteEnded();
  }

  /** Ends the lease that an unknown client has of the address, or its quarantine, because a person wants it, if no host answers a probe. Never rejects. */
  async endLease(poolName: string, address: Ipv4Address, interfaceName: string): Promise<LeaseEnd> {
    return (await this.#open?.endLease(poolName, address, interfaceName)) ?? { kind: 'no-lease' };
  }

  /** Call it after each burst of packets. */
  endBurst(): void {
    this.#noted.endBurst();
  }

  /** Answers packets that came in earlier; the outcome is noted as a later answer. @param answer - passes them in. */
  again(answer: () => void): void {
    this.#noted.again(answer);
  }

  /** Notes that another replica answers a packet. @param poolName - empty if no pool is known. */
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
   * Answers the packets of one interface. An error costs one packet, never the process.
   * @param pools - called for every packet, because pools come and go.
   */
  handler(entry: string | PacketEntry, pools: () => readonly ServedPool[], gate: AnswerGate = OPEN): DhcpPacketHandler {
    const { interfaceName, poolName = '' } = typeof entry === 'string' ? { interfaceName: entry } : entry;
    const noted = new NotedEntry(interfaceName, poolName);
    const path: PacketPath = { interfaceName, gate, ready: new ReadyPools(), queued: emptyReply() };
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

  /** The fast path of nearly every packet; undefined if the packet needs the other one. */
  #answerPrepared(packet: Uint8Array, path: PacketPath): QueuedReply | undefined {
    const { gate, interfaceName, queued } = path;
    if (gate.isOpenTo === undefined || this.#packetLog.isActive) return undefined;
    const reply = answerPreparedAmong(packet, this.#pools.readyFor(path.ready, this.#serving.pools), this.#serving.into);
    if (reply === undefined || !gate.isOpenTo(reply.lease)) return undefined;
    const { kind, lease, pool } = reply;
    this.counters.increment(kind === 'ack' ? this.#acks : this.#offers);
    if (kind === 'ack') {
      this.#leases.observeBound(lease, interfaceName);
      this.#table.setExpiryOfFound(lease, leaseExpiry(pool, this.#noted.nowMs()));
    }
    this.#noted.noteGranted(reply);
    return writeQueued(queued, reply, pool);
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
        this.#ignore(answer, interfaceName);
        return undefined;
      case 'noted':
        this.#leases.note(answer, interfaceName);
        return undefined;
      case 'reply':
        return this.#reply(gate.redirect?.(answer) ?? answer, packet, interfaceName);
    }
  }

  #ignore({ client, reason, pool }: Extract<Answer, { kind: 'ignored' }>, interfaceName: string): void {
    this.counters.count(client.type, 'ignored', reason);
    if (reason === 'pool-exhausted') this.#open?.onExhausted(pool.name, client.macAddress, interfaceName);
  }

  #decide(packet: Uint8Array): Answer | RecordAnswer {
    if (this.#open === undefined) return answerPacket(packet, this.#serving);
    return answerOpenPacket(packet, {
      ...this.#serving,
      openPoolOf: this.#open.openPoolOf,
      nowMs: this.#ports.nowMs(),
      admits: this.#admits,
    });
  }

  #recordThenAnswer(answer: RecordAnswer, packet: Uint8Array, interfaceName: string): void {
    if (this.#packetLog.isActive && answer.reply !== undefined)
      this.#packetLog.note({ packet, answer: answer.reply, interfaceName, poolName: answer.pool.name, notSent: undefined });
    const noteRecorded = this.#noted.laterOf(answer);
    void this.#open?.recordThenSend(answer, interfaceName).then(noteRecorded);
  }

  /** Captures delayed replies when they are sent. */
  #sendingLate(open: OpenPoolsPort): OpenPoolsPort['send'] {
    return (interfaceName, replies) => {
      if (this.#noted.isCapturing) this.#noted.captureLate(interfaceName, replies);
      open.send(interfaceName, replies);
    };
  }

  #standingOf(poolName: string, macAddress: MacAddress): Standing {
    if (this.#table.lookup(poolName, macAddress) !== undefined) return 'declared';
    return this.#open?.hasLease(poolName, macAddress) === true ? 'leased' : 'unknown';
  }

  #whyNotSent(answer: Answer, packet: Uint8Array, gate: AnswerGate): SuppressReason | undefined {
    if (answer.kind !== 'reply' && answer.kind !== 'noted') return undefined;
    const reason = gate.whyNotSent(answer, packet);
    if (reason !== undefined) this.counters.count(answer.client.type, 'ignored', reason);
    return reason;
  }

  #reply(answer: Reply, packet: Uint8Array, interfaceName: string): QueuedReply | undefined {
    if (this.#open?.waitsForProbe(answer, packet, interfaceName) === true) return undefined;
    const { client, decision, pool, omittedOptions } = answer;
    this.counters.count(client.type, decision.kind, 'reason' in decision ? decision.reason : '');
    if (omittedOptions.length > 0) this.counters.omitOptions(omittedOptions.length);
    if (decision.kind === 'ack') this.#leases.bind(decision.lease, pool, { interfaceName, nowMs: this.#noted.nowMs() });
    if (decision.kind === 'nak') {
      const claimed = client.requestedAddress ?? client.clientAddress;
      this.#leases.observeRefused(
        { poolName: pool.name, macAddress: client.macAddress, ...(claimed !== undefined && { address: claimed }) },
        { interface: interfaceName, reason: decision.reason },
      );
    }
    return queuedReplyOf(answer);
  }
}
