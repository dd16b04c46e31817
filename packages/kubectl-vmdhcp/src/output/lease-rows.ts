import { parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import { findAwaitedInterfaces } from '@vmdhcp/explain';
import type { ListedKind } from '@vmdhcp/explain/observe';
import { INTERFACES_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { isRecord, type KubernetesObject, keyOf, readConditions, readList, readText } from '@vmdhcp/kube-runtime';
import { virtualMachineNamedBy } from '@vmdhcp/reconciler/readers';

/** The address of one interface, or why it has none. */
export interface LeaseRow {
  readonly namespace: string;
  readonly virtualMachine: string;
  /** Empty if not known. */
  readonly interface: string;
  readonly network: string;
  readonly macAddress: string;
  /** Empty if none. */
  readonly address: string;
  /** Empty if none. */
  readonly ipv6Address: string;
  /** `Allocated`, `Pending`, `Stale`. */
  readonly state: string;
  readonly reason: string;
}

/** Undefined for any. */
export interface LeaseFilter {
  /** `namespace/name`. */
  readonly machine: string | undefined;
  /** `namespace/name`. */
  readonly network: string | undefined;
  readonly macAddress: string | undefined;
}

function toRows(config: KubernetesObject): LeaseRow[] {
  const { metadata, spec, status } = config;
  const { namespace = '', annotations = {} } = metadata;
  const names = interfaceNames(annotations[INTERFACES_ANNOTATION]);
  const allocated = readConditions(status).find(({ type }) => type === 'Allocated');
  const virtualMachine = virtualMachineNamedBy(config);
  // The interfaces of a new object wait for the controller.
  const read =
    status === undefined
      ? readList(spec, 'networkConfigs').map((entry) => ({ ...readEntry(entry, namespace), state: 'Pending' }))
      : readList(status, 'networkConfigs').map((entry) => readEntry(entry, namespace));
  return read.map((one) => {
    const reason = one.state === 'Pending' ? (allocated?.reason ?? '') : '';
    return { namespace, virtualMachine, interface: names.get(`${one.network} ${one.macAddress}`) ?? '', ...one, reason };
  });
}

function readEntry(
  entry: unknown,
  namespace: string,
): Pick<LeaseRow, 'network' | 'macAddress' | 'address' | 'ipv6Address' | 'state'> {
  const named = readText(entry, 'networkName') ?? '';
  const state = readText(entry, 'state') ?? '';
  return {
    network: named === '' || named.includes('/') ? named : `${namespace}/${named}`,
    macAddress: readText(entry, 'macAddress') ?? '',
    // An interface without an address shows the one that it had before.
    address: state === 'Pending' ? '' : (readText(entry, 'allocatedIPAddress') ?? ''),
    ipv6Address: state === 'Pending' ? '' : (readText(entry, 'allocatedIPv6Address') ?? ''),
    state,
  };
}

/** By network and MAC address. */
function interfaceNames(text: string | undefined): Map<string, string> {
  const remembered = parse(text);
  return new Map(
    Object.entries(remembered).map(([name, entry]) => {
      const macAddress = parseMacAddress(readText(entry, 'macAddress') ?? '') ?? '';
      return [`${readText(entry, 'networkName') ?? ''} ${macAddress}`, name];
    }),
  );
}

function parse(text = '{}'): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

export function leasesBy({ machine, network, macAddress }: LeaseFilter): ListedKind<LeaseRow> {
  const isWanted = (row: LeaseRow) =>
    (machine === undefined || `${row.namespace}/${row.virtualMachine}` === machine) &&
    (network === undefined || row.network === network) &&
    (macAddress === undefined || parseMacAddress(row.macAddress) === macAddress);
  return {
    ...LEASES,
    toRows: (object) => toRows(object).filter(isWanted),
    // An interface that waits for its MAC address has none to search for.
    ...(macAddress === undefined && {
      further: { ...AWAITING, toRows: (machines, configs) => awaitingRows(machines, configs).filter(isWanted) },
    }),
  };
}

/** There may be no VirtualMachineNetworkConfig yet. */
const AWAITS = 'AwaitingMacAddress';

function awaitingRows(machines: readonly KubernetesObject[], configs: readonly KubernetesObject[]): LeaseRow[] {
  const configOf = new Map(configs.map((config) => [keyOf(config), config]));
  return machines.flatMap((machine) => {
    const { namespace = '', name } = machine.metadata;
    const nothing = { macAddress: '', address: '', ipv6Address: '', state: 'Pending', reason: AWAITS };
    return findAwaitedInterfaces(machine, configOf.get(keyOf(machine))).map((one) => ({
      ...{ namespace, virtualMachine: name, interface: one.name, network: one.network },
      ...nothing,
    }));
  });
}

const AWAITING = { resource: Resource.virtualMachines, what: 'interfaces that await their MAC address' };

export const LEASES: ListedKind<LeaseRow> = {
  resource: Resource.networkConfigs,
  toRows,
  nameOf: ({ virtualMachine, reason }) =>
    reason === AWAITS
      ? `virtualmachine.kubevirt.io/${virtualMachine}`
      : `virtualmachinenetworkconfig.network.harvesterhci.io/${virtualMachine}`,
  identify: ({ network, macAddress }) => `${network} ${macAddress}`,
  sortBy: ({ namespace, virtualMachine }) => `${namespace}/${virtualMachine}`,
  columns: [
    { header: 'NAMESPACE', value: ({ namespace }) => namespace },
    { header: 'VM', value: ({ virtualMachine }) => virtualMachine },
    { header: 'INTERFACE', value: (row) => row.interface },
    { header: 'ADDRESS', value: ({ address }) => address },
    { header: 'IPV6', value: ({ ipv6Address }) => ipv6Address, isWide: true },
    { header: 'MAC', value: ({ macAddress }) => macAddress },
    { header: 'NETWORK', value: ({ network }) => network },
    { header: 'STATE', value: ({ state }) => state, isWide: true },
    { header: 'REASON', value: ({ reason }) => reason },
  ],
};
