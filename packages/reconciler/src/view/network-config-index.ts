import type { Ipv4Address, MacAddress } from '@vmdhcp/dhcp-allocator';
import { ObjectIndex } from '@vmdhcp/kube-runtime';
import type { NetworkClaims, NetworkConfigClaims } from '../network-config/interface-claims.js';
import { PersistentMap } from '../pool/persistent-map.js';

/** Indexes VirtualMachineNetworkConfigs with claims by network, and by MAC address on a network. */
export class NetworkConfigIndex {
  readonly #byNetwork = new ObjectIndex<NetworkConfigClaims>(({ claims }) => claims.map(({ network }) => network));
  readonly #byMacAddress = new ObjectIndex<NetworkConfigClaims>(({ claims }) =>
    claims.map(({ network, macAddress }) => macAddressOn(network, macAddress)),
  );
  readonly #byWanted = new ObjectIndex<NetworkConfigClaims>(({ claims }) =>
    claims.flatMap(({ network, wanted }) => (wanted === undefined ? [] : [addressOn(network, wanted)])),
  );
  /** By network. */
  readonly #claims = new Map<string, NetworkClaims>();
  /** Those with several interfaces. */
  readonly #several = new ObjectIndex<NetworkConfigClaims>(({ claims }) =>
    claims.length < 2 ? [] : claims.map(({ network }) => network),
  );
  /** By key: the parts that affect a plan. */
  readonly #known = new Map<string, string>();

  /**
   * Updates the config with this key; undefined if it does not exist.
   *
   * @returns the networks on which its claims have changed.
   */
  update(key: string, config: NetworkConfigClaims | undefined): ReadonlySet<string> {
    this.#noteClaims(key, config);
    const described = config && describeClaims(config);
    if (described === this.#known.get(key)) return NONE;
    if (described === undefined) this.#known.delete(key);
    else this.#known.set(key, described);
    this.#byMacAddress.update(key, config);
    this.#byWanted.update(key, config);
    this.#several.update(key, config);
    return this.#byNetwork.update(key, config);
  }

  /** Also what does not affect a plan at the moment, such as the last address. */
  #noteClaims(key: string, config: NetworkConfigClaims | undefined): void {
    const networks = new Set(config?.claims.map(({ network }) => network));
    for (const network of this.#byNetwork.valuesOf(key)) {
      if (!networks.has(network)) this.#claims.set(network, this.claimsOn(network).with([[key, undefined]]));
    }
    for (const network of networks) this.#claims.set(network, this.claimsOn(network).with([[key, config]]));
  }

  /** The configs that claim addresses on a network, in a version that does not change. */
  claimsOn(network: string): NetworkClaims {
    return this.#claims.get(network) ?? NO_CLAIMS;
  }

  /** Keys of the configs with several interfaces, of which one claims an address on a network. */
  withSeveral(network: string): ReadonlySet<string> {
    return this.#several.keysOf(network);
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
const NO_CLAIMS: NetworkClaims = PersistentMap.of();

function macAddressOn(network: string, macAddress: MacAddress): string {
  return `${network} ${macAddress}`;
}

/** The parts of claims that affect a plan; the last address matters only until one is recorded. */
function describeClaims({ claims, unreadable }: NetworkConfigClaims): string {
  return JSON.stringify([claims.map((one) => [one.network, one.macAddress, one.wanted ?? 0, one.isLeaving]), unreadable]);
}
