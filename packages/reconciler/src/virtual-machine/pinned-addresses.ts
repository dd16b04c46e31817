/**
 * Reads the addresses that the owner of a virtual machine pinned. For each interface the first of these that names it counts:
 *
 * - the annotation `static-ip.harvesterhci.io/<interface>`: one IPv4 address. An invalid one is ignored, as Harvester does.
 * - the annotation `network.kubevirt.io/addresses`: a JSON object of interface names and lists of addresses, which programs write
 *   that import virtual machines (Forklift). The guest expects that address, so while it cannot be read the interface gets none.
 *
 * Source: https://github.com/kubevirt/ipam-extensions, `network.kubevirt.io/addresses`.
 */
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { ADDRESSES_ANNOTATION, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api/agent';
import { isRecord, quote } from '@vmdhcp/kube-runtime';
import { toProblem, type WrittenProblem } from './virtual-machine-problem.js';

export interface PinnedAddress {
  /** In canonical form. */
  readonly ipAddress: string;
  /** The key of the annotation. */
  readonly pinnedBy: string;
}

/** `any`: the interface gets the next free address. `unreadable`: it gets no address until the annotation is corrected. */
export type Pin = { readonly kind: 'any' } | { readonly kind: 'unreadable' } | ({ readonly kind: 'address' } & PinnedAddress);

const ANY: Pin = { kind: 'any' };
const UNREADABLE: Pin = { kind: 'unreadable' };

const FORM = 'write {"INTERFACE":["192.0.2.10"]}';

/** Reads any annotations. What is wrong with them is added to `problems`. */
export class PinnedAddresses {
  readonly #annotations: Readonly<Record<string, string>>;
  readonly #problems: WrittenProblem[];
  readonly #lists: ReadonlyMap<string, unknown> | undefined;

  constructor(annotations: Readonly<Record<string, string>>, problems: WrittenProblem[]) {
    this.#annotations = annotations;
    this.#problems = problems;
    this.#lists = readLists(annotations[ADDRESSES_ANNOTATION]);
    if (this.#lists === undefined) this.#report('pinned-addresses-unreadable', { fault: 'is not a JSON object', remedy: FORM });
  }

  of(interfaceName: string): Pin {
    return this.#staticAddress(interfaceName) ?? this.#listedAddress(interfaceName);
  }

  /** The interfaces that `network.kubevirt.io/addresses` names. */
  named(): readonly string[] {
    return [...(this.#lists?.keys() ?? [])];
  }

  #staticAddress(interfaceName: string): Pin | undefined {
    const key = `${STATIC_IP_ANNOTATION_PREFIX}${interfaceName}`;
    const text = this.#annotations[key];
    if (text === undefined) return undefined;
    const ipAddress = canonical(text);
    if (ipAddress !== undefined) return { kind: 'address', ipAddress, pinnedBy: key };
    const place = { part: 'annotation', name: key, interfaceName } as const;
    const fault = `annotation ${key}: ${quote(text)} is not an IPv4 address`;
    const remedy = 'the annotation is ignored until it is corrected';
    this.#problems.push(toProblem('static-address-unreadable', { place, value: text, fault, remedy }));
    return undefined;
  }

  #listedAddress(interfaceName: string): Pin {
    if (this.#lists === undefined) return UNREADABLE;
    const list = this.#lists.get(interfaceName);
    if (list === undefined) return ANY;
    const texts = Array.isArray(list) ? list : [list];
    const unreadable = texts.find((text) => typeof text !== 'string' || (canonical(text) === undefined && !isIpv6(text)));
    if (!Array.isArray(list) || unreadable !== undefined) {
      const fault = `has ${typeof unreadable === 'string' ? quote(unreadable) : quote(JSON.stringify(unreadable ?? list))} for interface ${quote(interfaceName)}, which is not an address`;
      this.#report('pinned-addresses-unreadable', { fault, remedy: `${FORM}, addresses without a prefix length`, interfaceName });
      return UNREADABLE;
    }
    const [ipAddress, ...others] = texts.flatMap((text: string) => canonical(text) ?? []);
    if (ipAddress === undefined) return ANY;
    if (others.length > 0) {
      const fault = `has ${others.length + 1} IPv4 addresses for interface ${quote(interfaceName)}, and DHCP gives it only ${ipAddress}`;
      const remedy = 'set the others in the guest, or leave them out';
      this.#report('pinned-addresses-surplus', { fault, remedy, interfaceName });
    }
    return { kind: 'address', ipAddress, pinnedBy: ADDRESSES_ANNOTATION };
  }

  #report(
    reason: 'pinned-addresses-unreadable' | 'pinned-addresses-surplus',
    { fault, remedy, interfaceName }: { readonly fault: string; readonly remedy: string; readonly interfaceName?: string },
  ): void {
    const place = {
      part: 'annotation',
      name: ADDRESSES_ANNOTATION,
      ...(interfaceName !== undefined && { interfaceName }),
    } as const;
    const value = this.#annotations[ADDRESSES_ANNOTATION];
    this.#problems.push(toProblem(reason, { place, value, fault: `annotation ${ADDRESSES_ANNOTATION} ${fault}`, remedy }));
  }
}

/** Undefined if it is not a JSON object. */
function readLists(text: string | undefined): ReadonlyMap<string, unknown> | undefined {
  if (text === undefined || text.trim() === '') return new Map();
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if it is not an IPv4 address of a host. */
function canonical(text: string): string | undefined {
  const address = parseIpv4Address(text.trim());
  return address === undefined || address === 0 ? undefined : formatIpv4Address(address);
}

/** IPv6 addresses are for others to serve: they are read over. */
function isIpv6(text: string): boolean {
  return /^[0-9a-f]*:[0-9a-f:.]+$/i.test(text.trim());
}
