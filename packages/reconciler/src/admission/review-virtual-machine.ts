/** Reviews the requests of a VirtualMachine to DHCP: impossible or unintended ones. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { isBeingDeleted, type KubernetesObject, keyOf, readList, readText } from '@vmdhcp/kube-runtime';
import { explainSecondClaim } from '../pool/explain-refusal.js';
import { explainTooMany, MOST_INTERFACES } from '../virtual-machine/fit-entries.js';
import { isNotServed, reachableInterfaces } from '../virtual-machine/reachable-interfaces.js';
import type { WrittenPlace } from '../virtual-machine/virtual-machine-problem.js';
import type { WantedInterface } from '../virtual-machine/wanted-interfaces.js';
import type { AdmissionFacts } from './admission-facts.js';
import {
  type AdmissionProblem,
  type AdmissionRequest,
  type AdmissionReview,
  ALLOWED,
  newFindings,
  toReview,
  withNamespace,
} from './admission-review.js';
import type { AdmissionReason } from './admission-rules.js';
import { findAddressProblem } from './find-address-problem.js';

/** What happens to a virtual machine with a problem. */
export interface VirtualMachineRules {
  /**
   * What to do about a virtual machine with an impossible request. `Warn`: it is created, gets the addresses that it can have, and Events report the
   * rest. `Refuse`: it is refused.
   */
  readonly onProblem: 'Warn' | 'Refuse';
}

/** Deletions, and changes that do not concern DHCP, are always allowed. */
export function reviewVirtualMachine(
  request: AdmissionRequest,
  facts: AdmissionFacts,
  { onProblem }: VirtualMachineRules = { onProblem: 'Warn' },
): AdmissionReview {
  const { operation, oldObject } = request;
  if (operation === 'DELETE' || request.object === undefined || isBeingDeleted(request.object)) return ALLOWED;
  const object = withNamespace(request.object, request);
  const before = oldObject === undefined ? [] : findInMachine(withNamespace(oldObject, request), facts);
  const { problems } = newFindings({ problems: before, warnings: [] }, { problems: findInMachine(object, facts), warnings: [] });
  const isRefused = ({ reason }: AdmissionProblem) => onProblem === 'Refuse' && !NEVER_REFUSED.has(reason);
  return toReview({ problems: problems.filter(isRefused), warnings: problems.filter((one) => !isRefused(one)) });
}

/** Must not prevent the creation of a virtual machine: the first one is only temporary. */
const NEVER_REFUSED: ReadonlySet<AdmissionReason> = new Set([
  'address-quarantined',
  // Not the fault of the virtual machine: with another server, it works.
  'binding-not-served',
  'network-not-served',
  'served-twice',
  'may-be-served-twice',
]);

/** Reviews template and annotations: a change of a running virtual machine takes effect at its next start. */
function findInMachine(object: KubernetesObject, facts: AdmissionFacts): AdmissionProblem[] {
  const known = { ...facts.knowledgeOf(object), instance: undefined };
  const { interfaces = [], problems, reach } = reachableInterfaces(object, { known, observed: undefined });
  const twice = reach.filter((one) => !isNotServed(one) && facts.servingPool(one.networkName) !== undefined);
  const positions = { interface: positionsIn(object, INTERFACES), network: positionsIn(object, NETWORKS) };
  const written = [...problems, ...twice].flatMap(({ reason, place, value, fault, remedy }): AdmissionProblem[] => {
    if (reason === 'virtual-machine-instances-unreadable' || reason === 'virtual-machine-instance-unseen') return [];
    return [{ reason, path: pathOf(place, positions), value, message: fault, remedy }];
  });
  const owner = keyOf(object);
  return [
    ...written,
    ...findTooMany(interfaces),
    ...interfaces.flatMap((one) => findOnNetwork(one, { owner, positions }, facts)),
  ];
}

const TEMPLATE = ['spec', 'template', 'spec'];
const INTERFACES = [...TEMPLATE, 'domain', 'devices', 'interfaces'];
const NETWORKS = [...TEMPLATE, 'networks'];

/** Name to index in the lists of the template. */
type Positions = Readonly<Record<'interface' | 'network', ReadonlyMap<string | undefined, number>>>;

function positionsIn(object: KubernetesObject, list: readonly string[]): ReadonlyMap<string | undefined, number> {
  // The first one with a name counts.
  const names = readList(object, ...list).map((entry, index) => [readText(entry, 'name'), index] as const);
  return new Map(names.toReversed());
}

/** The list, if the item is not in the template: a running instance may still have it. */
function pathOf({ part, name }: WrittenPlace, positions: Positions): (string | number)[] {
  if (part === 'annotation') return ['metadata', 'annotations', name];
  if (part === 'template-annotation') return ['spec', 'template', 'metadata', 'annotations', name];
  if (part === 'template') return TEMPLATE;
  const list = part === 'interface' ? INTERFACES : NETWORKS;
  const index = positions[part].get(name);
  return index === undefined ? list : [...list, index];
}

/** Which interfaces get no address depends on which have one; the last ones by name are reported. */
function findTooMany(interfaces: readonly WantedInterface[]): AdmissionProblem[] {
  if (interfaces.length <= MOST_INTERFACES) return [];
  const explained = explainTooMany(interfaces.slice(MOST_INTERFACES).map(({ name }) => name));
  return [{ reason: 'too-many-interfaces', path: INTERFACES, value: interfaces.length, ...explained }];
}

function findOnNetwork(
  { name, networkName: network, macAddress, ipAddress, pinnedBy }: WantedInterface,
  { owner, positions }: { readonly owner: string; readonly positions: Positions },
  facts: AdmissionFacts,
): AdmissionProblem[] {
  const found: AdmissionProblem[] = [];
  const wanted = ipAddress === undefined ? undefined : parseIpv4Address(ipAddress);
  const problem = wanted === undefined ? undefined : findAddressProblem({ owner, network, macAddress, wanted }, facts);
  if (problem !== undefined) {
    const path = pinnedBy === undefined ? [] : pathOf(pinnedBy, positions);
    found.push({ ...problem, path, value: ipAddress, dependsOnOthers: true });
  }
  const other = [...facts.machinesHaving(network, macAddress)].find((key) => key !== owner);
  if (other !== undefined) {
    const path = [...pathOf({ part: 'interface', name }, positions), 'macAddress'];
    const about = { reason: 'mac-address-claimed-twice', path, value: macAddress, dependsOnOthers: true } as const;
    found.push({ ...about, ...explainSecondClaim(macAddress, other) });
  }
  return found;
}
