/**
 * When an agent that reaches no machine steps down for another replica. The leader is silent when all of its networks are; the controller confirms that
 * machines run there (condition NetworkSilent of the pool), as a network whose machines are all off is silent too. Where the leader before was silent as well, the
 * network is likely to be silent everywhere, and the next one is tried only now and then.
 */
import type { Clock } from '@vmdhcp/kube-runtime';
import type { MachineContact } from './machine-contact.js';

/** At first: time for other replicas to find out whether they reach any machine; they ask when the report of the leader is silent. */
const FIRST_MS = 12_000;
/** Each time in vain it waits so many times as long. Nobody is served meanwhile, so trying costs nothing. */
const GROWTH = 4;
const LONGEST_MS = 1_800_000;
/** As if it had tried so often: the leader before was silent too. */
const TRIES_OF_OTHER = 2;

export interface SilentNetworksPorts {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly isLeader: () => boolean;
  /** Of each network of a pool that is to be served. */
  readonly contacts: () => readonly MachineContact[];
  /** All contacts, those of other pools included. */
  readonly allContacts: () => readonly MachineContact[];
  /** True: by the controller, machines run on a network that the leader reports as silent. */
  readonly isConfirmed: () => boolean;
}

export class SilentNetworks {
  readonly #ports: SilentNetworksPorts;
  /** The last leader that was another replica reported that all networks are silent. */
  #wasOtherSilent = false;
  #silentSinceMs: number | undefined;
  /** How often it stepped down without contact since. */
  #timesSteppedDown = 0;

  constructor(ports: SilentNetworksPorts) {
    this.#ports = ports;
  }

  /** Another replica is leader, and reports this. @param isSilent - all networks of this agent are */
  noteOtherLeader(isSilent: boolean): void {
    this.#wasOtherSilent = isSilent;
  }

  /** True: another replica may reach machines that this one does not, so it goes first where the Lease is free. */
  goesLast(): boolean {
    return (this.#wasOtherSilent || this.#timesSteppedDown > 0) && !this.#hasContact();
  }

  /** Watches the networks while this is the leader, or while the leader reaches nobody. True: it steps down. To be called every second. */
  look(): boolean {
    const { isLeader, contacts, allContacts } = this.#ports;
    const isLeading = isLeader();
    const watched = new Set(isLeading || this.#wasOtherSilent ? contacts() : []);
    for (const contact of allContacts()) {
      if (watched.has(contact)) contact.look(!isLeading);
      else contact.leave();
    }
    if (isLeading && this.#hasContact()) {
      this.#wasOtherSilent = false;
      this.#timesSteppedDown = 0;
    }
    return isLeading && this.#isPatienceOver();
  }

  #isPatienceOver(): boolean {
    const { clock, isConfirmed } = this.#ports;
    if (!this.#isSilent() || !isConfirmed()) {
      this.#silentSinceMs = undefined;
      return false;
    }
    this.#silentSinceMs ??= clock.nowMs();
    if (clock.nowMs() - this.#silentSinceMs < this.#patienceMs()) return false;
    this.#silentSinceMs = undefined;
    this.#timesSteppedDown++;
    return true;
  }

  #patienceMs(): number {
    const tries = Math.max(this.#timesSteppedDown, this.#wasOtherSilent ? TRIES_OF_OTHER : 0);
    return Math.min(FIRST_MS * GROWTH ** tries, LONGEST_MS);
  }

  /** A leader that reaches machines of any network keeps that: a pool that works is never moved. */
  #isSilent(): boolean {
    const contacts = this.#ports.contacts();
    const silent = contacts.filter((contact) => contact.isSilent);
    return silent.length > 0 && contacts.every((contact) => contact.isSilent || !contact.hasContact);
  }

  #hasContact(): boolean {
    return this.#ports.contacts().some((contact) => contact.hasContact && !contact.isSilent);
  }
}
