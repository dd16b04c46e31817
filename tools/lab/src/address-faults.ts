import { isBeingDeleted, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';

/** The addresses of earlier checks, by config and MAC address. */
export type KnownAddresses = Map<string, string>;

interface ShownAddress {
  /** `namespace/name` of its VirtualMachineNetworkConfig. */
  readonly config: string;
  readonly uid: string;
  readonly network: string;
  readonly macAddress: string;
  /** Undefined if it has none. */
  readonly address: string | undefined;
}

/**
 * Finds addresses that two virtual machines have at once on one network, and addresses that changed since an earlier check. A config that is being
 * deleted may show an address that another machine has by now.
 */
export function findAddressFaults(configs: readonly KubernetesObject[], known: KnownAddresses): string[] {
  const owners = new Map<string, ShownAddress>();
  return configs
    .filter((config) => !isBeingDeleted(config))
    .flatMap(shownAddresses)
    .flatMap((one) => {
      if (one.address === undefined) return [];
      const [place, identity] = [`${one.address} on ${one.network}`, `${one.uid} ${one.macAddress}`];
      const [owner, former] = [owners.get(place), known.get(identity)];
      owners.set(place, one);
      known.set(identity, one.address);
      return [
        ...(owner === undefined ? [] : [`${place} is the address of ${owner.config} and of ${one.config}`]),
        ...(former === undefined || former === one.address
          ? []
          : [`${one.config} had ${former} on ${one.network}, and has ${one.address}`]),
      ];
    });
}

/**
 * Interfaces that have no address although their pool has one for them, and addresses that the pool does not record for them. A virtual machine gets
 * the addresses of all its interfaces or none: one of an exhausted pool may keep it from the others.
 */
export function findLackingAddresses(configs: readonly KubernetesObject[], pools: readonly KubernetesObject[]): string[] {
  const records = new Map(pools.map((pool) => [readText(pool.spec, 'networkName') ?? '', pool]));
  return configs.flatMap((config) => {
    const shown = shownAddresses(config);
    const mayWait = shown.some(({ network }) => isExhausted(records.get(network)));
    return shown.flatMap(({ config: key, network, macAddress, address }) => {
      const recorded = Object.entries(allocatedIn(records.get(network))).find(([, owner]) => owner === macAddress)?.[0];
      if (recorded !== address) return [`${key} shows ${address} on ${network}, and the pool records ${recorded}`];
      return address === undefined && !mayWait ? [`${key} has no address on ${network}, and the pool has one for it`] : [];
    });
  });
}

function shownAddresses({ metadata, spec, status }: KubernetesObject): ShownAddress[] {
  const shown = readList(status, 'networkConfigs');
  return readList(spec, 'networkConfigs').map((entry) => {
    const [network = '', macAddress = ''] = [readText(entry, 'networkName'), readText(entry, 'macAddress')];
    const one = shown.find((it) => readText(it, 'networkName') === network && readText(it, 'macAddress') === macAddress);
    const address = readText(one, 'allocatedIPAddress');
    return { config: `${metadata.namespace}/${metadata.name}`, uid: metadata.uid ?? '', network, macAddress, address };
  });
}

function allocatedIn(pool: KubernetesObject | undefined): Readonly<Record<string, string>> {
  return (readField(pool?.status, 'ipv4', 'allocated') ?? {}) as Record<string, string>;
}

/** Computed from the range and the records, independently of the controller. */
function isExhausted(pool: KubernetesObject | undefined): boolean {
  const [start, end] = ['start', 'end'].map((one) => lastOctet(readText(pool?.spec, 'ipv4Config', 'pool', one) ?? '.0'));
  const inRange = Object.keys(allocatedIn(pool)).filter(
    (address) => lastOctet(address) >= Number(start) && lastOctet(address) <= Number(end),
  );
  return inRange.length > Number(end) - Number(start);
}

function lastOctet(address: string): number {
  return Number(address.slice(address.lastIndexOf('.') + 1));
}
