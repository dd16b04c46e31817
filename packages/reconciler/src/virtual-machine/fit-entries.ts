/** Selects the interfaces that get an entry if there are more than fit into a VirtualMachineNetworkConfig. */
import type { NetworkConfig } from '@vmdhcp/ippool-api';
import { DHCP_OPT_OUT_ANNOTATION } from '@vmdhcp/ippool-api/agent';
import { describeNames } from '@vmdhcp/kube-runtime';
import { type Explanation, sentenceOf } from '../explanation.js';
import { formerEntry, type WantedEntry } from './network-config-entries.js';
import type { VirtualMachineProblem } from './virtual-machine-problem.js';
import type { MachineKnowledge } from './wanted-interfaces.js';

/** The maximum in the CRD of VirtualMachineNetworkConfig. */
export const MOST_INTERFACES = 4;

interface Places extends Pick<MachineKnowledge, 'hasAddress'> {
  readonly present: readonly NetworkConfig[];
  /** How many interfaces fit. */
  readonly room: number;
}

/**
 * Existing entries come first, then interfaces with an address, whose entries may have been deleted by hand: a new interface does not replace one
 * that has an address.
 */
export function fitEntries(
  wanted: readonly WantedEntry[],
  { present, hasAddress = () => false, room }: Places,
  problems: VirtualMachineProblem[],
): readonly WantedEntry[] {
  if (wanted.length <= room) return wanted;
  const isRecorded = ({ networkName, memory }: WantedEntry) =>
    [memory.macAddress, ...memory.replaces].some((macAddress) => hasAddress(networkName, macAddress));
  const rank = (one: WantedEntry) => (formerEntry(one, present) !== undefined ? 0 : isRecorded(one) ? 1 : 2);
  const chosen = new Set(wanted.toSorted((one, other) => rank(one) - rank(other)).slice(0, room));
  const left = wanted.filter((one) => !chosen.has(one)).map(({ name }) => name);
  if (wanted.length > MOST_INTERFACES) {
    problems.push({ reason: 'too-many-interfaces', message: sentenceOf(explainTooMany(left)) });
  }
  return wanted.filter((one) => chosen.has(one));
}

/** @param left - names of the interfaces that get no address. */
export function explainTooMany(left: readonly string[]): Explanation {
  return {
    message: `only ${MOST_INTERFACES} interfaces of a virtual machine get addresses, ${describeNames(left)} not`,
    remedy: `opt interfaces out with annotation ${DHCP_OPT_OUT_ANNOTATION}`,
  };
}
