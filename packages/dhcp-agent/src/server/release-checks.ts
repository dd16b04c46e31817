/**
 * That a client has left its address is only a claim: any machine can send a RELEASE in its name, and a person who ends a lease may be wrong. It counts when the
 * host does not answer a probe of its address; while it answers, its lease stays.
 */
import type { Lease } from '@vmdhcp/dhcp-allocator';
import type { FindAddressUsers } from '../probe/address-users.js';

/** A host answers for a moment after it has sent its RELEASE: it is asked again so many times, each a few seconds after the one before. */
export const PROBES_AFTER_RELEASE = 4;
/** Claims that are checked at the same time. */
const MOST_CHECKED = 256;

/** Why a lease stays. */
export type ReleaseDoubt =
  /** As many leases as may be are being checked: the network was not asked. */
  | 'release-limit'
  /** The network is being asked because of an earlier claim. */
  | 'release-being-checked'
  /** The client itself answers for the address: it uses it. */
  | 'release-address-in-use-by-client'
  /** The network could not be asked. */
  | 'release-not-checked';

export type ReleaseOutcome = { readonly believed: true } | { readonly believed: false; readonly reason: ReleaseDoubt };

export interface ReleaseClaim {
  readonly lease: Lease;
  readonly interfaceName: string;
  /** How often the host is asked before its lease stays; 1 or more. */
  readonly probes: number;
}

interface Check extends ReleaseClaim {
  probesLeft: number;
  isAsking: boolean;
  readonly settle: (outcome: ReleaseOutcome) => void;
}

export class ReleaseChecks {
  readonly #findUsers: FindAddressUsers;
  readonly #onNotProbed: (interfaceName: string, error: unknown) => void;
  /** By pool and address. */
  readonly #running = new Map<string, Check>();

  constructor(findUsers: FindAddressUsers, onNotProbed: (interfaceName: string, error: unknown) => void) {
    this.#findUsers = findUsers;
    this.#onNotProbed = onNotProbed;
  }

  /** Whether the client has left its address. Never rejects. */
  check(claim: ReleaseClaim): Promise<ReleaseOutcome> {
    const key = keyOf(claim.lease);
    if (this.#running.has(key)) return Promise.resolve({ believed: false, reason: 'release-being-checked' });
    if (this.#running.size >= MOST_CHECKED) return Promise.resolve({ believed: false, reason: 'release-limit' });
    return new Promise((settle) => {
      const check: Check = { ...claim, probesLeft: claim.probes, isAsking: false, settle };
      this.#running.set(key, check);
      void this.#ask(check);
    });
  }

  /** Asks hosts again that have answered. To be called every few seconds. */
  askAgain(): void {
    for (const check of this.#running.values()) if (!check.isAsking) void this.#ask(check);
  }

  async #ask(check: Check): Promise<void> {
    check.isAsking = true;
    check.probesLeft -= 1;
    try {
      const { byClient } = await this.#findUsers(check.interfaceName, check.lease);
      if (!byClient) this.#settle(check, { believed: true });
      else if (check.probesLeft <= 0) this.#settle(check, { believed: false, reason: 'release-address-in-use-by-client' });
    } catch (error) {
      this.#onNotProbed(check.interfaceName, error);
      this.#settle(check, { believed: false, reason: 'release-not-checked' });
    }
    check.isAsking = false;
  }

  #settle(check: Check, outcome: ReleaseOutcome): void {
    this.#running.delete(keyOf(check.lease));
    check.settle(outcome);
  }
}

function keyOf({ poolName, address }: Lease): string {
  return `${poolName} ${address}`;
}
