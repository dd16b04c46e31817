/** `vmdhcp.wol.v1.AddressChanges`: the list of wakeable addresses and its changes on the wire. */
import { packAddresses, unpackAddresses } from './mac-octets.js';

/** In the form of @grpc/proto-loader. */
export interface AddressChanges {
  readonly begins_list: boolean;
  readonly completes_list: boolean;
  readonly added: Uint8Array;
  readonly removed: Uint8Array;
}

/** Addresses of one message: 60 kB. */
const MOST_OF_ONE_MESSAGE = 10_000;
const NONE = new Uint8Array(0);

/** A whole list, in one or more messages. */
export function encodeList(addresses: readonly string[]): AddressChanges[] {
  const parts = inParts(addresses);
  return parts.map((part, index) => ({
    begins_list: index === 0,
    completes_list: index === parts.length - 1,
    added: packAddresses(part),
    removed: NONE,
  }));
}

/** The messages that turn `before` into `after`; none if both are equal. */
export function encodeDifference(before: ReadonlySet<string>, after: ReadonlySet<string>): AddressChanges[] {
  const message = { begins_list: false, completes_list: false, added: NONE, removed: NONE };
  return [
    ...inParts([...after].filter((address) => !before.has(address))).map((part) => ({ ...message, added: packAddresses(part) })),
    ...inParts([...before].filter((address) => !after.has(address))).map((part) => ({
      ...message,
      removed: packAddresses(part),
    })),
  ].filter(({ added, removed }) => added.length + removed.length > 0);
}

/** The list of a peer, built from its messages. */
export class ReceivedAddresses {
  #complete: ReadonlySet<string> | undefined;
  #arriving: Set<string> | undefined;

  /** The last complete list, with its changes; undefined until the first one is complete. */
  get addresses(): ReadonlySet<string> | undefined {
    return this.#complete;
  }

  /** Adds a message. Returns what is wrong with it: then end the call; the next one begins with a whole list. */
  take(message: AddressChanges): { readonly ok: true } | { readonly ok: false; readonly problem: string } {
    const added = unpackAddresses(message.added);
    const removed = unpackAddresses(message.removed);
    if (added === undefined || removed === undefined) return { ok: false, problem: 'a list of addresses that is cut off' };
    if (message.begins_list) this.#arriving = new Set();
    else if (this.#arriving === undefined && this.#complete === undefined)
      return { ok: false, problem: 'changes before the list that they change' };
    this.#change(this.#arriving ?? new Set(this.#complete), { added, removed }, message.completes_list);
    return { ok: true };
  }

  #change(
    addresses: Set<string>,
    { added, removed }: { readonly added: readonly string[]; readonly removed: readonly string[] },
    completes: boolean,
  ): void {
    for (const address of added) addresses.add(address);
    for (const address of removed) addresses.delete(address);
    if (this.#arriving !== undefined && !completes) return;
    this.#arriving = undefined;
    this.#complete = addresses;
  }
}

/** At least one part. */
function inParts(addresses: readonly string[]): readonly (readonly string[])[] {
  const parts = Math.max(1, Math.ceil(addresses.length / MOST_OF_ONE_MESSAGE));
  return Array.from({ length: parts }, (_, index) =>
    addresses.slice(index * MOST_OF_ONE_MESSAGE, (index + 1) * MOST_OF_ONE_MESSAGE),
  );
}
