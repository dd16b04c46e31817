/**
 * Decides which VirtualMachineNetworkConfig has the address of a client if several name its MAC address: any user of a network
 * may write one that does.
 */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { compareByAge, type KubernetesObject, readList, readText } from '@vmdhcp/kube-runtime';

/** A client of a network that claims an address, or any. */
export interface AddressClient {
  readonly macAddress: MacAddress;
  /** `namespace/name`; undefined: any network. */
  readonly network: string | undefined;
  /** The address that a pool records for the client; undefined if none. */
  readonly address: string | undefined;
}

/** A VirtualMachineNetworkConfig with an interface that has the MAC address. */
export interface ClaimingConfig {
  readonly config: KubernetesObject;
  /** True if its status has the address; the controller writes it to one of them only. */
  readonly hasAddress: boolean;
}

/** The one that has the address, then the others: the oldest first. */
export function findAddressClaims(configs: readonly KubernetesObject[], client: AddressClient): ClaimingConfig[] {
  return orderClaims(
    configs.flatMap((config) => {
      const hasAddress = isAllocated(config, client);
      return hasAddress || isClaimed(config, client) ? [{ config, hasAddress }] : [];
    }),
  );
}

/** Claims of several lists in one order: the one that has the address, then the others, the oldest first. */
export function orderClaims(claims: readonly ClaimingConfig[]): ClaimingConfig[] {
  return claims.toSorted(
    (one, other) => Number(other.hasAddress) - Number(one.hasAddress) || compareByAge(one.config, other.config),
  );
}

function isClaimed(config: KubernetesObject, client: AddressClient): boolean {
  return readList(config.spec, 'networkConfigs').some((entry) => isOf(config, entry, client));
}

function isAllocated(config: KubernetesObject, client: AddressClient): boolean {
  return readList(config.status, 'networkConfigs').some((entry) => {
    const address = readText(entry, 'allocatedIPAddress');
    const isThisOne = client.address === undefined || address === client.address;
    return readText(entry, 'state') === 'Allocated' && isThisOne && isOf(config, entry, client);
  });
}

function isOf({ metadata }: KubernetesObject, entry: unknown, { macAddress, network }: AddressClient): boolean {
  const named = readText(entry, 'networkName') ?? '';
  const key = named.includes('/') ? named : `${metadata.namespace}/${named}`;
  return (network === undefined || key === network) && parseMacAddress(readText(entry, 'macAddress') ?? '') === macAddress;
}
