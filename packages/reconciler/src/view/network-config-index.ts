import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { ObjectIndex } from '@vmdhcp/kube-runtime';
import type { NetworkConfigClaims } from '../network-config/interface-claims.js';

/** Indexes VirtualMachineNetworkConfigs with claims by network, and by MAC address on a network. */
export class NetworkConfigIndex {
  readonly #byNetwork = new ObjectIndex<NetworkConfigClaims>(({ claims }) => claims.map(({ network }) => network));
  readonly #byMacAddress = new ObjectIndex<NetworkConfigClaims>(({ claims }) =>
    claims.map(({ network, macAddress }) => macAddressOn(network, macAddress)),
  );
  readonly #byWanted = new ObjectIndex<NetworkConfigClaims>(({ claims }) =>
    claims.flatMap(({ network, wanted }) => (wanted === undefined ? [] : [addressOn(network, wanted)])),
  );
  /** By key: the parts that affect a plan. */
  readonly #known = new Map<string, string>();

  /**
   * Updates the config with this key; undefined if it does not exist.
   *
   * @returns the networks on which its claims have changed.
   */
  update(key: string, config: NetworkConfigClaims | undefined): ReadonlySet<string> {
    const described = config && describeClaims(config);
    if (described === this.#known.get(key)) return NONE;
    if (described === undefined) this.#known.delete(key);
    else this.#known.set(key, described);
    this.#byMacAddress.update(key, config);
    this.#byWanted.update(key, config);
    return this.#byNetwork.update(key, config);
  }

  /** Keys of the configs that claim addresses on a network. */
  on(network: string): ReadonlySet<string> {
    return this.#byNetwork.keysOf(network);
  }

  /** Keys of the configs that claim a MAC address on a network. */
  claiming(network: string, macAddress: MacAddress): ReadonlySet<string> {
    return this.#byMacAddress.keysOf(macAddressOn(network, macAddress));
  }

  /** Keys of the configs that want this address on a network, whether they have it or not. */
  wanting(network: string, address: Ipv4Address): ReadonlySet<string> {
    return this.#byWanted.keysOf(addressOn(network, address));
  }
}

function addressOn(network: string, address: Ipv4Address): string {
  return `${network} ${address}`;
}

const NONE: ReadonlySet<string> = new Set();

function macAddressOn(network: string, macAddress: MacAddress): string {
  return `${network} ${macAddress}`;
}

/** The parts of claims that affect a plan; the last address matters only until one is recorded. */
function describeClaims({ claims, unreadable }: NetworkConfigClaims): string {
  return JSON.stringify([claims.map(({ network, macAddress, wanted }) => [network, macAddress, wanted ?? 0]), unreadable]);
}
