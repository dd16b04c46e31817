/** Probes whether another host uses `selfIp`, before the leader adds it to the interface. */
import { AddressUsers, type AddressUsersPorts, type ServerAddress } from '@vmdhcp/dhcp-agent';
import { formatIpv4Address, type MacAddress } from '@vmdhcp/dhcp-allocator';
import type { Logger } from '@vmdhcp/service-process';

const RETRY_INTERVAL_MS = 2_000;
/** No client has `selfIp`: every host that answers is another one. */
const NO_CLIENT: MacAddress = '00:00:00:00:00:00';

export interface SelfProbePorts extends AddressUsersPorts {
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** False if addresses are not probed, because CAP_NET_RAW is missing. */
  readonly mayProbe: boolean;
  /** An address was probed. */
  readonly onChange: () => void;
}

interface Probed {
  readonly of: ServerAddress;
  kind: 'unknown' | 'free' | 'used';
  isAsking: boolean;
  nextAtMs: number;
  problem: string | undefined;
}

export class SelfProbe {
  readonly #ports: SelfProbePorts;
  readonly #users: AddressUsers;
  #probed: Probed | undefined;

  constructor(ports: SelfProbePorts) {
    this.#ports = ports;
    this.#users = new AddressUsers(ports);
  }

  /** Why the address is not added; undefined if it is, or is not known to be used. */
  get problem(): string | undefined {
    return this.#probed?.problem;
  }

  /**
   * True if another host answered for the address; false if none did, or none is to be added; undefined if it could not be probed
   * yet.
   */
  get isUsed(): boolean | undefined {
    const kind = this.#probed?.kind ?? 'free';
    return kind === 'unknown' ? undefined : kind === 'used';
  }

  /**
   * Returns those of the addresses that no other host uses; the others are probed again and again until they are free. Call it
   * several times a second while this replica is leader, with at most one address. A free address stays free until the call names
   * another one, or none.
   */
  free(addresses: readonly ServerAddress[]): readonly ServerAddress[] {
    if (!this.#ports.mayProbe) return addresses;
    const [address] = addresses;
    if (address === undefined || !isSame(address, this.#probed?.of)) this.#probed = address && toProbed(address);
    const probed = this.#probed;
    if (probed === undefined || probed.kind === 'free') return addresses;
    if (!probed.isAsking && probed.nextAtMs <= this.#ports.nowMs()) void this.#probe(probed);
    return [];
  }

  /** Leadership has ended: the next one begins with a probe. */
  forget(): void {
    this.#probed = undefined;
  }

  async #probe(probed: Probed): Promise<void> {
    const { interfaceName, address } = probed.of;
    probed.isAsking = true;
    const found = await this.#users.findUsers(interfaceName, { poolName: '', macAddress: NO_CLIENT, address }).catch(toText);
    probed.isAsking = false;
    probed.nextAtMs = this.#ports.nowMs() + RETRY_INTERVAL_MS;
    if (this.#probed !== probed) return;
    const text = `selfIp ${formatIpv4Address(address)}`;
    if (typeof found === 'string') this.#note(probed, `${text} cannot be probed on interface ${interfaceName}: ${found}`);
    else if (found.others.length > 0) {
      probed.kind = 'used';
      this.#note(probed, inUse(text, found.others.toSorted(), interfaceName));
    } else this.#onFree(probed);
    this.#ports.onChange();
  }

  #note(probed: Probed, problem: string): void {
    if (probed.problem !== problem)
      this.#ports.logger.error(`${problem}. It is not added, and no client gets an answer; trying again`);
    probed.problem = problem;
  }

  #onFree(probed: Probed): void {
    if (probed.problem !== undefined) this.#ports.logger.info('no other host uses selfIp any longer');
    probed.kind = 'free';
    probed.problem = undefined;
  }
}

function toProbed(of: ServerAddress): Probed {
  return { of, kind: 'unknown', isAsking: false, nextAtMs: 0, problem: undefined };
}

function isSame(one: ServerAddress, other: ServerAddress | undefined): boolean {
  return one.address === other?.address && one.interfaceIndex === other.interfaceIndex;
}

function inUse(what: string, users: readonly MacAddress[], interfaceName: string): string {
  return `${what} is in use by another host (${users.join(', ')}) on the network of interface ${interfaceName}: remove it from that host (a former DHCP server may have it), or write another selfIp`;
}

function toText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
