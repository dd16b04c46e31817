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
import type { DhcpPacketHandler, PacketLog, QueuedReply } from '../ports.js';
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

export interface DhcpServerPorts extends Omit<DeclaredLeasesPorts, 'counters' | 'onOtherDeclined'> {
  /** Default: no packet is logged. */
  readonly packetLog?: PacketLog;
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

const NO_PACKETS: PacketLog = { isActive: false, note: () => undefined };
const OPEN: AnswerGate = { whyNotSent: () => undefined, isOpenTo: () => true };

/** Where packets come in, with what is kept there. */
interface PacketPath {
  readonly interfaceName: string;
  readonly gate: AnswerGate;
  /** What the last packet was answered from; the next one is too, as long as pools and leases stay as they are. */
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
  /** Undefined: no pool is open. */
  readonly #open: OpenAnswers | undefined;
  readonly #newClients = new NewClientLimits();
  readonly #admits = (standing: NewStanding) => this.#newClients.admits(standing, this.#ports.nowMs());
  readonly #packetLog: PacketLog;
  readonly #noted: NotedAnswers;
  readonly #leaseOf = (poolName: string, macAddress: string) => this.#table.lookup(poolName, macAddress);
  /** What the packet being answered may need; made once, as a packet is answered before the next one comes. */
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
    if (this.#pools.set(pool)) return this.#leases.replace(pool.name, assignments);
    this.#leases.restore(pool.name, assignments, expiryOf);
    return [];
  }

  /**
   * Serves these clients of a pool that is served already otherwise than before, and all others as they are. What is handed over must be
   * recorded already.
   * @returns leases that are new or have another address.
   */
  changePool(poolName: string, changes: AssignmentChanges): Lease[] {
    return this.#leases.change(poolName, changes);
  }

  /** Serves the pool no more. */
  removePool(poolName: string): void {
    this.#pools.remove(poolName);
    this.#table.removePool(poolName);
  }

  /** The pools of that name that are served now, in that order. */
  poolsNamed(names: readonly string[]): readonly ServedPool[] {
    return this.#pools.named(names);
  }

  /** The pool of that name, if it is served now, as the only one of an interface. */
  poolAlone(name: string): readonly ServedPool[] {
    return this.#pools.alone(name);
  }

  /** So many addresses of the pool's subnet that no client has; fewer where so many are not found. @param random - 0 to less than 1. */
  decoysOf(poolName: string, count: number, random: () => number): readonly Ipv4Address[] {
    const pool = this.#pools.get(poolName)?.pool;
    const isAssigned = (address: Ipv4Address) =>
      this.#table.ownerOf(poolName, address) !== undefined || this.#open?.bindingAt(poolName, address) !== undefined;
    return pool === undefined ? [] : decoyAddresses(pool, { count, isAssigned, random });
  }

  /** Of declared clients, in no order. */
  leasesOf(poolName: string): Iterable<Lease> {
    return this.#table.leases(poolName);
  }

  /** Notes leases that have ended. */
  expireLeases(): void {
    this.#leases.expire();
    this.#open?.noteEnded();
  }

  /** Ends the lease that an unknown client has of the address, or its quarantine, because a person wants it, if no host answers a probe. Never rejects. */
  async endLease(poolName: string, address: Ipv4Address, interfaceName: string): Promise<LeaseEnd> {
    return (await this.#open?.endLease(poolName, address, interfaceName)) ?? { kind: 'no-lease' };
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

  /** The quick path of nearly every packet; undefined: the packet needs the other one. */
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
        return this.#reply(gate.redirect?.(answer) ?? answer, interfaceName);
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

  /** Captures replies that had to wait, as they are sent. */
  #sendingLate(open: OpenPoolsPort): OpenPoolsPort['send'] {
    return (interfaceName, replies) => {
      if (this.#noted.isCapturing) this.#noted.captureLate(interfaceName, replies, this.#pools.all());
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

  #reply(answer: Reply, interfaceName: string): QueuedReply | undefined {
    if (this.#open?.waitsForProbe(answer, interfaceName) === true) return undefined;
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
