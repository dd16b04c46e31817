/**
 * Finds the hosts that use an address, as far as their answers can be believed. A proxy ARP router, or a hostile virtual machine, answers for every
 * address, which proves nothing about a single one. So when a host answers for the address of another one, the agent probes three addresses that no
 * client has, or as many as the subnet has left. A host that answers for all of them is not believed for an hour. If no address is left, every host
 * is believed.
 */
import type { Ipv4Address, Lease, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { AddressProbe, AddressUse, AgentObserver } from '../ports.js';

/** The maximum number of decoys. */
export const DECOYS = 3;
const HOUR_MS = 3_600_000;
/** The maximum number of remembered hosts; beyond that the oldest is forgotten, and found out again. */
const MOST_REMEMBERED = 1_000;

/** Probes the address of a lease on an interface. Rejects if that is impossible. */
export type FindAddressUsers = (interfaceName: string, lease: Lease) => Promise<AddressUse>;

/** What the search for users of an address needs: a probe, and addresses that nobody has. */
export interface AddressUsersPorts {
  readonly observer: AgentObserver;
  readonly nowMs: () => number;
  /** Returns addresses of the pool's subnet that no client has: three, or fewer if there are not as many. */
  readonly decoysOf: (poolName: string) => readonly Ipv4Address[];
  readonly probe: AddressProbe;
}

export class AddressUsers {
  readonly #ports: AddressUsersPorts;
  readonly #probe: AddressProbe;
  /** By interface and MAC address: until when the host is not believed. */
  readonly #unbelieved = new Map<string, number>();
  /** By interface: the decoys that are being probed. */
  readonly #checks = new Map<string, Promise<void>>();
  /** What is being asked about. */
  readonly #questions = new Set<Lease>();

  constructor(ports: AddressUsersPorts) {
    this.#ports = ports;
    this.#probe = ports.probe;
  }

  /** The hosts that use the address of the lease, without those that answer for every address. */
  readonly findUsers: FindAddressUsers = async (interfaceName, lease) => {
    const question = { ...lease };
    this.#questions.add(question);
    try {
      const { byClient, others } = await this.#probe(interfaceName, lease);
      if (this.#believed(interfaceName, others).length > 0) await this.#check(interfaceName, lease);
      return { byClient, others: this.#believed(interfaceName, others) };
    } finally {
      this.#questions.delete(question);
    }
  };

  #believed(interfaceName: string, hosts: readonly MacAddress[]): MacAddress[] {
    const nowMs = this.#ports.nowMs();
    return hosts.filter((host) => (this.#unbelieved.get(keyOf(interfaceName, host)) ?? 0) <= nowMs);
  }

  /** Probes the decoys, once for all callers that wait. */
  #check(interfaceName: string, lease: Lease): Promise<void> {
    const running = this.#checks.get(interfaceName);
    if (running !== undefined) return running;
    const check = this.#askAboutDecoys(interfaceName, lease).finally(() => this.#checks.delete(interfaceName));
    this.#checks.set(interfaceName, check);
    return check;
  }

  async #askAboutDecoys(interfaceName: string, { poolName, macAddress }: Lease): Promise<void> {
    const asked = new Set([...this.#questions].flatMap((one) => (one.poolName === poolName ? [one.address] : [])));
    // A host that uses an address that no client has answers for it, and proves nothing about others.
    const decoys = this.#ports.decoysOf(poolName).filter((address) => !asked.has(address));
    const uses = await Promise.all(decoys.map((address) => this.#probe(interfaceName, { address, macAddress })));
    const [first, ...rest] = uses.map(({ others }) => others);
    const liars = (first ?? []).filter((host) => rest.every((others) => others.includes(host)));
    for (const host of liars) this.#disbelieve(interfaceName, host, decoys);
  }

  #disbelieve(interfaceName: string, host: MacAddress, decoys: readonly Ipv4Address[]): void {
    const key = keyOf(interfaceName, host);
    const isKnown = this.#believed(interfaceName, [host]).length === 0;
    this.#unbelieved.delete(key);
    this.#unbelieved.set(key, this.#ports.nowMs() + HOUR_MS);
    const oldest = this.#unbelieved.keys().next();
    if (this.#unbelieved.size > MOST_REMEMBERED && !oldest.done) this.#unbelieved.delete(oldest.value);
    if (!isKnown)
      this.#ports.observer.observe({ kind: 'answers-for-every-address', interfaceName, macAddress: host, addresses: decoys });
  }
}

function keyOf(interfaceName: string, macAddress: MacAddress): string {
  return `${interfaceName} ${macAddress}`;
}
