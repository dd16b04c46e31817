/**
 * Tracks when the machines of a network were last in contact with this agent: they got a reply, or answered an ARP request for their address. A
 * network whose machines are all out of reach is silent. This happens if the bridge CNI plugin creates a bridge that is missing on a node, if a trunk
 * lacks the VLAN, or if an uplink is down: the agent is then healthy in every other respect, but reaches no client.
 *
 * Only machines count. Other agents send probes of their own, which prove nothing.
 */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';

/** A network is silent after this long without contact, once every machine with a recorded address was asked. */
export const SILENT_MS = 120_000;
/** After this long without contact machines are asked, this many at a time, at this interval. */
const ASK_AFTER_MS = 40_000;
const ASK_INTERVAL_MS = 10_000;
/** The interval while it is silent: its machines may be off for days. */
const SILENT_ASK_INTERVAL_MS = 60_000;
const ASKED_AT_ONCE = 32;

export interface MachineContactPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The machines that may be asked; if there are none, the network is never silent. */
  readonly leases: () => Iterable<Lease>;
  /** Resolves to true if any machine answers for the address of the lease. Rejects if it cannot ask. */
  readonly ask: (lease: Lease) => Promise<boolean>;
  /** The network has become silent, or its machines answer again. */
  readonly onChange: (isSilent: boolean) => void;
}

/** Tracks the contact with the machines of one network, while it is watched. */
export class MachineContact {
  readonly #ports: MachineContactPorts;
  /** True if a reply went to a machine since the last check. */
  #hasReplied = false;
  /** Undefined if it is not watched. */
  #sinceMs: number | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Machines that remain to be asked; undefined if none was asked since the last contact. */
  #toAsk: Lease[] | undefined;
  /** True if each of them was asked since the last contact. */
  #wereAllAsked = false;
  /** The last machine that answered is asked first. */
  #lastAnswered: Lease | undefined;
  #hasContact = false;
  #isSilent = false;

  constructor(ports: MachineContactPorts) {
    this.#ports = ports;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** True if there was contact while the network was watched. */
  get hasContact(): boolean {
    return this.#hasContact;
  }

  /** For how long there has been no contact, in milliseconds; 0 if the network is not silent. */
  get silentForMs(): number {
    return this.#isSilent ? this.#ports.clock.nowMs() - (this.#sinceMs ?? 0) : 0;
  }

  /** Notes a reply to a machine. It is called for each packet, so it only sets a flag. */
  noteReply(): void {
    this.#hasReplied = true;
  }

  /** Stops watching the network. */
  leave(): void {
    if (this.#isSilent) this.#ports.onChange(false);
    this.#isSilent = false;
    this.#hasReplied = false;
    this.#hasContact = false;
    this.#sinceMs = undefined;
    this.#toAsk = undefined;
    this.#wereAllAsked = false;
  }

  /** Checks for contact, and asks machines if there is none. Call it every second. @param asksAtOnce - true to ask machines from the beginning */
  look(asksAtOnce: boolean): void {
    const nowMs = this.#ports.clock.nowMs();
    this.#sinceMs ??= nowMs;
    if (this.#hasReplied) {
      this.#hasReplied = false;
      this.#meet();
    }
    const waitedMs = nowMs - this.#sinceMs;
    if (!this.#isSilent && waitedMs >= SILENT_MS && this.#wereAllAsked) {
      this.#isSilent = true;
      this.#ports.onChange(true);
    }
    if (this.#isTimeToAsk(nowMs, asksAtOnce)) this.#askSome(nowMs);
  }

  #isTimeToAsk(nowMs: number, asksAtOnce: boolean): boolean {
    const isWanted = nowMs - (this.#sinceMs ?? nowMs) >= ASK_AFTER_MS || (asksAtOnce && !this.#hasContact);
    return isWanted && nowMs - this.#askedAtMs >= (this.#isSilent ? SILENT_ASK_INTERVAL_MS : ASK_INTERVAL_MS);
  }

  #askSome(nowMs: number): void {
    this.#askedAtMs = nowMs;
    if (this.#toAsk === undefined) {
      this.#toAsk = [...this.#ports.leases()];
      // One request is enough if nothing is wrong.
      if (this.#lastAnswered !== undefined) {
        void this.#askOne(this.#lastAnswered);
        return;
      }
    }
    for (const lease of this.#toAsk.splice(0, ASKED_AT_ONCE)) void this.#askOne(lease);
    if (this.#toAsk.length > 0) return;
    // A network without machines is never silent.
    const [any] = this.#ports.leases();
    this.#wereAllAsked = any !== undefined;
    this.#toAsk = undefined;
  }

  async #askOne(lease: Lease): Promise<void> {
    const isThere = await this.#ports.ask(lease).catch(() => false);
    if (!isThere || this.#sinceMs === undefined) return;
    this.#lastAnswered = lease;
    this.#meet();
  }

  #meet(): void {
    this.#sinceMs = this.#ports.clock.nowMs();
    this.#hasContact = true;
    this.#toAsk = undefined;
    this.#wereAllAsked = false;
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#ports.onChange(false);
  }
}
