/** How agents reach the leader: an annotation of the Lease by which controllers elect it, so that nothing else has to be read. */
import { WAKE_ON_LAN_LEADER_ANNOTATION } from '@vmdhcp/ippool-api/agent';

export class LeaderAddress {
  readonly #own: string | undefined;
  #published: string | undefined;

  /** @param own - host:port of this process; undefined if other pods do not know how to reach it. */
  constructor(own: string | undefined) {
    this.#own = own;
  }

  /** The annotations that the leader publishes. */
  readonly annotations = (): Readonly<Record<string, string>> => ({ [WAKE_ON_LAN_LEADER_ANNOTATION]: this.#own ?? '' });

  /** Reads the annotations of the Lease. */
  readonly note = (annotations: Readonly<Record<string, string>>): void => {
    this.#published = annotations[WAKE_ON_LAN_LEADER_ANNOTATION] || undefined;
  };

  /** host:port of another process that is leader, if known. */
  get other(): string | undefined {
    return this.#published === this.#own ? undefined : this.#published;
  }
}
