/**
 * Limits the memory of requests in progress, shared between the addresses that they come from: any pod can send requests, and
 * those of one pod must not block those of the API server.
 */
export interface HeldBody {
  /** Notes that this many octets of the body have arrived. May cut this body, or an older one of the same address. */
  readonly add: (octets: number) => void;
  /** Notes that all of it has arrived: it is no longer cut, and counts until it is released. */
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

  /** @param cut - called at most once, while the body is not complete; the body is then already released. */
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
   * While the total is too high, an address with more than its share loses its oldest incomplete body, which is probably not
   * about to end. Other addresses lose nothing, so the total may exceed the budget for a moment.
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
