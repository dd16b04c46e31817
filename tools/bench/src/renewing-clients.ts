import { ClientFleet, waitFor } from '@vmdhcp/lab';

const RENEW_INTERVAL_MS = 1_000;
/** A client that gets no reply sends the same request again after so long. */
const ASK_AGAIN_MS = 450;
const LOOK_INTERVAL_MS = 25;

interface Renewal {
  readonly xid: number;
  readonly sinceMs: number;
  askedAtMs: number;
}

/** Clients of one network that renew every second, and how long each waits for its answer. */
export class RenewingClients {
  renewals = 0;
  otherAddresses = 0;
  readonly #fleet: ClientFleet;
  readonly #macAddresses: readonly string[];
  readonly #addressOf = new Map<string, string>();
  /** By MAC address. */
  readonly #open = new Map<string, Renewal>();
  readonly #nextAtMs = new Map<string, number>();
  #longestWaitMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastXid = Math.floor(Math.random() * 2 ** 30);

  constructor(network: string, macAddresses: readonly string[]) {
    this.#fleet = new ClientFleet(network, LOOK_INTERVAL_MS / 2);
    this.#macAddresses = macAddresses;
  }

  /** Has every client ask for its address, and renew from then on. */
  async begin(): Promise<void> {
    for (const [index, macAddress] of this.#macAddresses.entries()) {
      const offer = await waitFor(
        `an address for ${macAddress}`,
        () => {
          const xid = ++this.#lastXid;
          this.#fleet.ask({ macAddress, xid });
          return waitFor('an offer', () => this.#fleet.answerTo(xid), 1_000).catch(() => undefined);
        },
        30_000,
      );
      this.#addressOf.set(macAddress, offer.address);
      this.#nextAtMs.set(macAddress, performance.now() + (index * RENEW_INTERVAL_MS) / this.#macAddresses.length);
    }
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  /** The longest wait since the last question; clients that still wait count. */
  takeLongestWaitMs(): number {
    const waiting = [...this.#open.values()].map(({ sinceMs }) => performance.now() - sinceMs);
    const longestMs = Math.max(this.#longestWaitMs, ...waiting);
    this.#longestWaitMs = 0;
    return longestMs;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#fleet.stop();
  }

  #look(): void {
    const nowMs = performance.now();
    for (const { xid, macAddress, address, type, atMs } of this.#fleet.answers.splice(0)) {
      const renewal = this.#open.get(macAddress);
      if (renewal === undefined || renewal.xid !== xid || type === 'offer') continue;
      this.#open.delete(macAddress);
      this.renewals++;
      this.#longestWaitMs = Math.max(this.#longestWaitMs, atMs - renewal.sinceMs);
      if (type !== 'ack' || address !== this.#addressOf.get(macAddress)) this.otherAddresses++;
    }
    for (const macAddress of this.#macAddresses) this.#renew(macAddress, nowMs);
  }

  #renew(macAddress: string, nowMs: number): void {
    const open = this.#open.get(macAddress);
    const address = this.#addressOf.get(macAddress);
    if (address === undefined) return;
    if (open !== undefined) {
      if (nowMs - open.askedAtMs < ASK_AGAIN_MS) return;
      open.askedAtMs = nowMs;
      this.#fleet.ask({ macAddress, xid: open.xid, address });
    } else if (nowMs >= (this.#nextAtMs.get(macAddress) ?? 0)) {
      const xid = ++this.#lastXid;
      this.#nextAtMs.set(macAddress, nowMs + RENEW_INTERVAL_MS);
      this.#open.set(macAddress, { xid, sinceMs: nowMs, askedAtMs: nowMs });
      this.#fleet.ask({ macAddress, xid, address });
    }
  }
}
