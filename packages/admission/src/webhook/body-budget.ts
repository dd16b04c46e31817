/**
 * How much memory requests under way may hold, shared by the addresses that they come from: any pod can send requests, and what one sends must not keep
 * those of the API server out.
 */
export interface HeldBody {
  /** So many octets of the body have come. May cut this body, or an older one of the same address. */
  readonly add: (octets: number) => void;
  /** All of it has come: it is not cut any more, and counts until it is released. */
  readonly complete: () => void;
  /** Its memory is free. */
  readonly release: () => void;
}

interface Body {
  octets: number;
  isComplete: boolean;
  readonly cut: () => void;
}

export class BodyBudget {
  readonly #mostOctets: number;
  /** By address, oldest first. */
  readonly #bodies = new Map<string, Set<Body>>();
  #octets = 0;

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets;
  }

  /** @param cut - asked for at most once, while the body is not complete; the body is then released already. */
  hold(address: string, cut: () => void): HeldBody {
    const body: Body = { octets: 0, isComplete: false, cut };
    const ofAddress = this.#bodies.get(address) ?? new Set();
    this.#bodies.set(address, ofAddress.add(body));
    return {
      add: (octets) => {
        if (!ofAddress.has(body)) return;
        body.octets += octets;
        this.#octets += octets;
        this.#enforce(address, ofAddress);
      },
      complete: () => {
        body.isComplete = true;
      },
      release: () => this.#release(address, ofAddress, body),
    };
  }

  /**
   * While there is too much, an address with more than its share loses its oldest body that is not complete: one that is not about to end. The others
   * lose nothing to it, so for a moment there may be more than the budget.
   */
  #enforce(address: string, ofAddress: Set<Body>): void {
    while (this.#octets > this.#mostOctets && octetsOf(ofAddress) > this.#mostOctets / this.#bodies.size) {
      const oldest = [...ofAddress].find(({ isComplete }) => !isComplete);
      if (oldest === undefined) return;
      this.#release(address, ofAddress, oldest);
      oldest.cut();
    }
  }

  #release(address: string, ofAddress: Set<Body>, body: Body): void {
    if (!ofAddress.delete(body)) return;
    this.#octets -= body.octets;
    if (ofAddress.size === 0) this.#bodies.delete(address);
  }
}

function octetsOf(bodies: ReadonlySet<Body>): number {
  let octets = 0;
  for (const body of bodies) octets += body.octets;
  return octets;
}
