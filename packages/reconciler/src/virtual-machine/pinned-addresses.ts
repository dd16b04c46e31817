/**
 * Reads the addresses that the owner of a virtual machine pinned. For each interface the first of these that names it counts:
 *
 * - the annotation `static-ip.harvesterhci.io/<interface>`: one IPv4 address. An invalid one is ignored, as Harvester does.
 * - the annotation `network.kubevirt.io/addresses` of the virtual machine, or else of its template: a JSON object of interface names and lists of
 *   addresses, which programs write that import virtual machines. The guest expects that address, so while it cannot be read the interface gets none.
 *   A JSON list is about the pod network, and not read here.
 *
 * Source: https://github.com/kubevirt/ipam-extensions, `network.kubevirt.io/addresses`.
 */
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { ADDRESSES_ANNOTATION, STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api/agent';
import { isRecord, type KubernetesObject, quote, readText, readTexts } from '@vmdhcp/kube-runtime';
import { toProblem, type WrittenPlace, type WrittenProblem } from './virtual-machine-problem.js';

export interface PinnedAddress {
  /** In canonical form. */
  readonly ipAddress: string;
  /** The annotation. */
  readonly pinnedBy: WrittenPlace;
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
  readonly #place: WrittenPlace;
  readonly #text: string | undefined;
  readonly #lists: ReadonlyMap<string, unknown> | undefined;

  constructor(virtualMachine: KubernetesObject, problems: WrittenProblem[]) {
    this.#annotations = readTexts(virtualMachine.metadata, 'annotations');
    this.#problems = problems;
    const own = this.#annotations[ADDRESSES_ANNOTATION];
    this.#place = { part: own === undefined ? 'template-annotation' : 'annotation', name: ADDRESSES_ANNOTATION };
    this.#text = own ?? readText(virtualMachine.spec, 'template', 'metadata', 'annotations', ADDRESSES_ANNOTATION);
    this.#lists = readLists(this.#text);
    if (this.#lists === undefined) this.#report('pinned-addresses-unreadable', { fault: 'is not a JSON object', remedy: FORM });
  }

  of(interfaceName: string): Pin {
    return this.#staticAddress(interfaceName) ?? this.#listedAddress(interfaceName);
  }

  /** The interfaces that `network.kubevirt.io/addresses` names, and where it is. */
  named(): { readonly names: readonly string[]; readonly place: WrittenPlace } {
    return { names: [...(this.#lists?.keys() ?? [])], place: this.#place };
  }

  #staticAddress(interfaceName: string): Pin | undefined {
    const key = `${STATIC_IP_ANNOTATION_PREFIX}${interfaceName}`;
    const text = this.#annotations[key];
    if (text === undefined) return undefined;
    const ipAddress = canonical(text);
    const place = { part: 'annotation', name: key, interfaceName } as const;
    if (ipAddress !== undefined) return { kind: 'address', ipAddress, pinnedBy: place };
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
      this.#report('pinned-addresses-unreadable', { fault, remedy: FORM, interfaceName });
      return UNREADABLE;
    }
    const [ipAddress, ...others] = texts.flatMap((text: string) => canonical(text) ?? []);
    if (ipAddress === undefined) return ANY;
    if (others.length > 0) {
      const fault = `has ${others.length + 1} IPv4 addresses for interface ${quote(interfaceName)}, and DHCP gives it only ${ipAddress}`;
      const remedy = 'set the others in the guest, or leave them out';
      this.#report('pinned-addresses-surplus', { fault, remedy, interfaceName });
    }
    return { kind: 'address', ipAddress, pinnedBy: this.#place };
  }

  #report(
    reason: 'pinned-addresses-unreadable' | 'pinned-addresses-surplus',
    { fault, remedy, interfaceName }: { readonly fault: string; readonly remedy: string; readonly interfaceName?: string },
  ): void {
    const place = { ...this.#place, ...(interfaceName !== undefined && { interfaceName }) };
    this.#problems.push(
      toProblem(reason, { place, value: this.#text, fault: `annotation ${ADDRESSES_ANNOTATION} ${fault}`, remedy }),
    );
  }
}

/** Undefined if it is not a JSON object. */
function readLists(text: string | undefined): ReadonlyMap<string, unknown> | undefined {
  if (text === undefined || text.trim() === '') return new Map();
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return new Map();
    return isRecord(value) ? new Map(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if it is not an IPv4 address of a host. A prefix length is not read. */
function canonical(text: string): string | undefined {
  const address = parseIpv4Address(text.trim().replace(PREFIX_LENGTH, ''));
  return address === undefined || address === 0 ? undefined : formatIpv4Address(address);
}

const PREFIX_LENGTH = /\/\d{1,3}$/;
const GROUP = /^[0-9a-f]{1,4}$/i;

/** IPv6 addresses are for others to serve: they are left out. Source: RFC 4291 §2.2, forms 1 and 2. */
function isIpv6(text: string): boolean {
  const halves = text.trim().replace(PREFIX_LENGTH, '').split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  if (halves.length > 2 || !groups.every((group) => GROUP.test(group))) return false;
  return halves.length === 2 ? groups.length < 8 : groups.length === 8;
}
