/**
 * Sends the list of wakeable addresses to every agent that follows it: first the whole list, then the changes. Agents that check
 * one password share one list. Agents choose the password that they name, so only passwords that the manager knows get a separate
 * list.
 */
import { type ServerWritableStream, status } from '@grpc/grpc-js';
import type { FollowRequest } from '../proto/wol-services.js';
import type { WolHandler } from '../report/wol-handler.js';
import type { AddressChanges } from '../wire/address-changes.js';
import { type Failure, notServing } from './failure.js';
import { SentList } from './sent-list.js';

type FollowCall = ServerWritableStream<FollowRequest, AddressChanges>;

const MOST_FOLLOWERS = 4_096;
/** An agent has one. An unread list is in memory for each call. */
const MOST_FOLLOWERS_OF_A_CONNECTION = 4;
/** How long followers wait for the end of the call after the manager lost the leadership. */
const CHECK_INTERVAL_MS = 500;
const NO_PASSWORD = '';

interface Follower {
  /** Address and port: one connection. */
  readonly peer: string;
  /** `SECRET/KEY` of the password that the agent names; empty for none. */
  readonly password: string;
  /** The password of its list. */
  list: string;
  /** True if written messages are not sent yet. */
  isFull: boolean;
  /** True if changes were skipped since it is full: the whole list follows. */
  isBehind: boolean;
}

export class ListFollowers {
  readonly #handler: WolHandler;
  readonly #followers = new Map<FollowCall, Follower>();
  /** The number of followers, by peer. */
  readonly #followersOf = new Map<string, number>();
  readonly #endListening: () => void;
  /** By password, for passwords that an agent follows. */
  readonly #lists = new Map<string, SentList>();
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
    const password = call.request.password_secret;
    const follower: Follower = { peer, password, list: this.#listFor(password), isFull: false, isBehind: false };
    this.#followers.set(call, follower);
    this.#followersOf.set(peer, (this.#followersOf.get(peer) ?? 0) + 1);
    const leave = () => this.#remove(call);
    call.on('cancelled', leave);
    call.on('close', leave);
    call.on('error', leave);
    call.on('drain', () => this.#onDrain(call, follower));
    this.#timer ??= setInterval(() => this.#endIfNotServing(), CHECK_INTERVAL_MS);
    this.#send(call, follower, this.#list(follower.list).whole());
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
      return { code: status.RESOURCE_EXHAUSTED, details: `${ofPeer} calls of this connection follow the list already` };
    if (this.#followers.size < MOST_FOLLOWERS) return undefined;
    return { code: status.RESOURCE_EXHAUSTED, details: `${MOST_FOLLOWERS} agents follow the list already` };
  }

  /** The password of the list for agents that name this one. */
  #listFor(password: string): string {
    return this.#handler.wakeable.passwords?.().has(password) === true ? password : NO_PASSWORD;
  }

  #list(password: string): SentList {
    const known = this.#lists.get(password);
    if (known !== undefined) return known;
    const list = new SentList(() => this.#handler.wakeable.snapshot(password === NO_PASSWORD ? undefined : password));
    this.#lists.set(password, list);
    return list;
  }

  #onChange(): void {
    const updates = new Map([...this.#lists].map(([password, list]) => [password, list.update()] as const));
    for (const [call, follower] of this.#followers) {
      const list = this.#listFor(follower.password);
      const messages = (list === follower.list ? updates.get(list) : undefined) ?? this.#list(list).whole();
      follower.list = list;
      if (messages.length === 0) continue;
      if (follower.isFull) follower.isBehind = true;
      else this.#send(call, follower, messages);
    }
    this.#forgetUnused();
  }

  #onDrain(call: FollowCall, follower: Follower): void {
    follower.isFull = false;
    if (!follower.isBehind || !this.#followers.has(call)) return;
    follower.isBehind = false;
    this.#send(call, follower, this.#list(follower.list).whole());
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
    this.#lists.clear();
  }

  #forgetUnused(): void {
    const used = new Set([...this.#followers.values()].map(({ list }) => list));
    for (const password of [...this.#lists.keys()]) if (!used.has(password)) this.#lists.delete(password);
  }
}

function fail(call: FollowCall, failure: Failure): void {
  call.emit('error', failure);
}
