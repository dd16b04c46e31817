/**
 * When the machines of a network were last in contact with this agent: they got a reply, or answered an ARP request for their address. A network
 * whose machines are all out of reach is silent. The bridge CNI plugin creates a bridge that is missing on a node, a trunk may lack the VLAN, an uplink may be down:
 * an agent is then well in every other respect, and answers nobody.
 *
 * Only machines count. Other agents send questions and probes of their own, which prove nothing.
 */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { Clock } from '@vmdhcp/kube-runtime';

/** A network is silent after so long without contact, once every machine with a recorded address was asked. */
export const SILENT_MS = 120_000;
/** Machines are asked after so long without contact, so many at a time, so often. */
const ASK_AFTER_MS = 40_000;
const ASK_INTERVAL_MS = 10_000;
/** While it is silent: its machines may be off for days. */
const SILENT_ASK_INTERVAL_MS = 60_000;
const ASKED_AT_ONCE = 32;

export interface MachineContactPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  /** The machines that may be asked; none: the network is never silent. */
  readonly leases: () => Iterable<Lease>;
  /** True: the machine, or another one, answers for the address of the lease. Rejects where the network cannot be asked. */
  readonly ask: (lease: Lease) => Promise<boolean>;
  /** The network has become silent, or its machines answer again. */
  readonly onChange: (isSilent: boolean) => void;
}

/** The contact with the machines of one network, while it is watched. */
export class MachineContact {
  readonly #ports: MachineContactPorts;
  /** True: a reply went to a machine since the last look. */
  #hasReplied = false;
  /** Undefined: it is not watched. */
  #sinceMs: number | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Machines that are still to be asked; undefined: nobody was asked since the last contact. */
  #toAsk: Lease[] | undefined;
  /** True: each of them was asked since the last contact. */
  #wereAllAsked = false;
  /** The last one that answered is asked first. */
  #lastAnswered: Lease | undefined;
  #hasContact = false;
  #isSilent = false;

  constructor(ports: MachineContactPorts) {
    this.#ports = ports;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** True: there has been contact while the network was watched. */
  get hasContact(): boolean {
    return this.#hasContact;
  }

  /** For how long there has been no contact, in milliseconds; 0: it is not silent. */
  get silentForMs(): number {
    return this.#isSilent ? this.#ports.clock.nowMs() - (this.#sinceMs ?? 0) : 0;
  }

  /** A reply went to a machine. It is called for each packet, so it only takes note. */
  noteReply(): void {
    this.#hasReplied = true;
  }

  /** The network is not watched any more. */
  leave(): void {
    if (this.#isSilent) this.#ports.onChange(false);
    this.#isSilent = false;
    this.#hasReplied = false;
    this.#hasContact = false;
    this.#sinceMs = undefined;
    this.#toAsk = undefined;
    this.#wereAllAsked = false;
  }

  /** Looks for contact, and asks where there is none. To be called every second. @param asksAtOnce - true: machines are asked from the beginning */
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
      // One question is enough where nothing is wrong.
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
