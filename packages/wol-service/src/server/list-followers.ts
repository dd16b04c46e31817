/** Sends the list of wakeable addresses to every agent that follows it: the whole list first, then what changes. */
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import type { FollowRequest } from '../proto/wol-services.js';
import type { WolHandler } from '../report/wol-handler.js';
import { type AddressChanges, encodeDifference, encodeList } from '../wire/address-changes.js';
import { type Failure, notServing } from './failure.js';

type FollowCall = ServerWritableStream<FollowRequest, AddressChanges>;

const MOST_FOLLOWERS = 4_096;
/** An agent has one. A list that its reader does not read is in memory for each call. */
const MOST_FOLLOWERS_OF_A_CONNECTION = 4;
/** How long followers of a manager that leads no more wait for the word. */
const CHECK_INTERVAL_MS = 500;

interface Follower {
  /** Address and port: one connection. */
  readonly peer: string;
  /** What was written is not sent yet. */
  isFull: boolean;
  /** Changes were left out since it is full: the whole list follows. */
  isBehind: boolean;
}

export class ListFollowers {
  readonly #handler: WolHandler;
  readonly #followers = new Map<FollowCall, Follower>();
  /** How many, by peer. */
  readonly #followersOf = new Map<string, number>();
  readonly #endListening: () => void;
  #sent: ReadonlySet<string> | undefined;
  /** `#sent` as messages, which all agents get that come after a change of the leader. */
  #encoded: readonly AddressChanges[] | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(handler: WolHandler) {
    this.#handler = handler;
    this.#endListening = handler.wakeable.onChange(() => this.#onChange());
  }

  get size(): number {
    return this.#followers.size;
  }

  add(call: FollowCall): void {
    const peer = call.getPeer();
    const refusal = this.#findRefusal(peer);
    if (refusal !== undefined) {
      fail(call, refusal);
      return;
    }
    const follower: Follower = { peer, isFull: false, isBehind: false };
    this.#followers.set(call, follower);
    this.#followersOf.set(peer, (this.#followersOf.get(peer) ?? 0) + 1);
    const leave = () => this.#remove(call);
    call.on('cancelled', leave);
    call.on('close', leave);
    call.on('error', leave);
    call.on('drain', () => this.#onDrain(call, follower));
    this.#timer ??= setInterval(() => this.#endIfNotServing(), CHECK_INTERVAL_MS);
    // What has changed since then follows with the next change, as to all others.
    this.#send(call, follower, this.#wholeList());
  }

  /** Ends every call. */
  stop(failure: Failure): void {
    this.#endListening();
    this.#endAll(failure);
  }

  #findRefusal(peer: string): Failure | undefined {
    if (!this.#handler.isServing()) return notServing(this.#handler);
    const ofPeer = this.#followersOf.get(peer) ?? 0;
    if (ofPeer >= MOST_FOLLOWERS_OF_A_CONNECTION)
      return { code: status.RESOURCE_EXHAUSTED, details: `${ofPeer} calls of this connection follow already` };
    if (this.#followers.size < MOST_FOLLOWERS) return undefined;
    return { code: status.RESOURCE_EXHAUSTED, details: `${MOST_FOLLOWERS} agents follow already` };
  }

  #current(): ReadonlySet<string> {
    this.#sent ??= new Set(this.#handler.wakeable.snapshot());
    return this.#sent;
  }

  #wholeList(): readonly AddressChanges[] {
    this.#encoded ??= encodeList([...this.#current()]);
    return this.#encoded;
  }

  #onChange(): void {
    if (this.#followers.size === 0) {
      this.#forget();
      return;
    }
    const before = this.#current();
    const after = new Set(this.#handler.wakeable.snapshot());
    this.#sent = after;
    const changes = encodeDifference(before, after);
    if (changes.length === 0) return;
    this.#encoded = undefined;
    for (const [call, follower] of this.#followers) {
      if (follower.isFull) follower.isBehind = true;
      else this.#send(call, follower, changes);
    }
  }

  #onDrain(call: FollowCall, follower: Follower): void {
    follower.isFull = false;
    if (!follower.isBehind || !this.#followers.has(call)) return;
    follower.isBehind = false;
    this.#send(call, follower, this.#wholeList());
  }

  #send(call: FollowCall, follower: Follower, messages: readonly AddressChanges[]): void {
    for (const message of messages) follower.isFull = !call.write(message);
  }

  #endIfNotServing(): void {
    if (!this.#handler.isServing()) this.#endAll(notServing(this.#handler));
  }

  #endAll(failure: Failure): void {
    for (const call of [...this.#followers.keys()]) {
      this.#remove(call);
      fail(call, failure);
    }
  }

  #remove(call: FollowCall): void {
    const follower = this.#followers.get(call);
    if (follower === undefined) return;
    this.#followers.delete(call);
    const left = (this.#followersOf.get(follower.peer) ?? 1) - 1;
    if (left > 0) this.#followersOf.set(follower.peer, left);
    else this.#followersOf.delete(follower.peer);
    if (this.#followers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#forget();
  }

  #forget(): void {
    this.#sent = undefined;
    this.#encoded = undefined;
  }
}

function fail(call: FollowCall, failure: Failure): void {
  call.emit('error', failure);
}
