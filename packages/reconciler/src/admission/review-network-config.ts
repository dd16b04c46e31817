/** Reviews the creation or change of a VirtualMachineNetworkConfig. */
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { EXTERNAL_DHCP_ANNOTATION, parseObject } from '@vmdhcp/ippool-api';
import { isBeingDeleted, type KubernetesObject, keyOf, readList } from '@vmdhcp/kube-runtime';
import { explainMissingNetwork } from '../network/network-problem.js';
import { type InterfaceClaim, readInterfaceEntry } from '../network-config/interface-claims.js';
import { explainUnserved } from '../network-config/plan-network-config-status.js';
import { explainInvalidPool } from '../pool/explain-invalid-pool.js';
import { explainSecondClaim } from '../pool/explain-refusal.js';
import type { AdmissionFacts } from './admission-facts.js';
import {
  type AdmissionProblem,
  type AdmissionRequest,
  type AdmissionReview,
  ALLOWED,
  toReview,
  withNamespace,
} from './admission-review.js';
import { findAddressProblem } from './find-address-problem.js';

/** Unchanged entries of an edit are not reviewed again; deletions are always allowed. */
export function reviewNetworkConfig(request: AdmissionRequest, facts: AdmissionFacts): AdmissionReview {
  const { operation, oldObject } = request;
  if (operation === 'DELETE' || request.object === undefined || isBeingDeleted(request.object)) return ALLOWED;
  const object = withNamespace(request.object, request);
  const entries = entriesOf(object);
  const before = new Set(oldObject === undefined ? [] : entriesOf(withNamespace(oldObject, request)).map(describe));
  const isNew = operation === 'CREATE' || oldObject === undefined;
  const changed = entries.filter((entry) => !before.has(describe(entry)));
  // If nothing is pinned, only the controller looks at the edit.
  const lookedUp = isNew ? changed : changed.filter(({ claim }) => claim?.wanted !== undefined);
  const found = [
    ...(isNew ? schemaProblems(object) : []),
    ...changed.flatMap(({ problem }) => problem ?? []),
    ...findTwice(entries, before),
    ...lookedUp.flatMap((entry) => findOnNetwork(entry, keyOf(object), facts)),
  ];
  const isWarning = ({ reason }: AdmissionProblem) => WARNINGS.has(reason);
  return toReview({ problems: found.filter((one) => !isWarning(one)), warnings: found.filter(isWarning) });
}

const WARNINGS: ReadonlySet<AdmissionProblem['reason']> = new Set([
  'pool-invalid',
  'mac-address-claimed-twice',
  'address-quarantined',
  'unknown-field',
]);
const ENTRIES = ['spec', 'networkConfigs'];
const DEPENDS_ON_OTHERS = { dependsOnOthers: true } as const;

interface Entry {
  readonly index: number;
  readonly claim: InterfaceClaim | undefined;
  readonly problem: AdmissionProblem | undefined;
}

function entriesOf({ spec, metadata: { namespace = '' } }: KubernetesObject): Entry[] {
  return readList(spec, 'networkConfigs').map((value, index) => {
    const read = readInterfaceEntry(value, namespace);
    if (!('reason' in read)) return { index, claim: read, problem: undefined };
    const { field, network: _network, macAddress: _macAddress, ...problem } = read;
    return { index, claim: undefined, problem: { ...problem, path: [...ENTRIES, index, field] } };
  });
}

function describe({ claim, problem }: Entry): string {
  return JSON.stringify(claim === undefined ? problem?.message : [claim.network, claim.macAddress, claim.wanted ?? 0]);
}

/** The problems that its schema finds, except those that the rules for entries describe better. */
function schemaProblems(object: KubernetesObject): AdmissionProblem[] {
  const parsed = parseObject({ ...object, kind: 'VirtualMachineNetworkConfig', status: undefined });
  const problems = parsed.ok ? [] : parsed.problems;
  const isOfEntry = ({ path }: { readonly path: readonly (string | number)[] }) =>
    path[1] === 'networkConfigs' && ['macAddress', 'ipAddress'].includes(String(path[3]));
  return [...problems.filter((one) => !isOfEntry(one) || one.reason === 'wrong-type'), ...parsed.unknownFields];
}

/** Interfaces that want the same as an earlier one. An edit is not refused for two old ones. */
function findTwice(entries: readonly Entry[], before: ReadonlySet<string>): AdmissionProblem[] {
  const [byMacAddress, byAddress] = [new Map<string, Entry>(), new Map<string, Entry>()];
  return entries.flatMap((entry) => {
    const { claim } = entry;
    if (claim === undefined) return [];
    const { network, macAddress, wanted } = claim;
    const isNew = (former: Entry | undefined) =>
      former !== undefined && !(before.has(describe(entry)) && before.has(describe(former)));
    const sameMacAddress = firstOf(byMacAddress, `${network} ${macAddress}`, entry);
    const sameAddress = wanted === undefined ? undefined : firstOf(byAddress, `${network} ${wanted}`, entry);
    return [
      ...(isNew(sameMacAddress) ? [macAddressTwice(entry.index, claim)] : []),
      ...(isNew(sameAddress) && sameAddress?.claim?.macAddress !== macAddress
        ? [addressTwice(entry.index, claim, sameAddress?.claim)]
        : []),
    ];
  });
}

/** The earlier interface; undefined if this one is the first. */
function firstOf(entries: Map<string, Entry>, key: string, entry: Entry): Entry | undefined {
  const former = entries.get(key);
  if (former === undefined) entries.set(key, entry);
  return former;
}

function macAddressTwice(index: number, { network, macAddress }: InterfaceClaim): AdmissionProblem {
  const message = `${macAddress} is on network ${network} already`;
  const about = { reason: 'mac-address-twice', path: [...ENTRIES, index, 'macAddress'], value: macAddress } as const;
  return { ...about, message, remedy: 'remove one of the two entries' };
}

function addressTwice(
  index: number,
  { network, wanted = 0 }: InterfaceClaim,
  former: InterfaceClaim | undefined,
): AdmissionProblem {
  const value = formatIpv4Address(wanted);
  const message = `${value} is wanted by ${former?.macAddress} on network ${network} already`;
  const about = { reason: 'address-wanted-twice', path: [...ENTRIES, index, 'ipAddress'], value } as const;
  return { ...about, message, remedy: 'give one of them another address' };
}

function findOnNetwork(entry: Entry, owner: string, facts: AdmissionFacts): AdmissionProblem[] {
  const { index, claim } = entry;
  if (claim === undefined) return [];
  const { network, macAddress, wanted } = claim;
  const about = { path: [...ENTRIES, index, 'networkName'], value: network, ...DEPENDS_ON_OTHERS } as const;
  const definition = facts.network(network);
  if (definition === undefined) {
    const explained = { ...explainMissingNetwork(network), remedy: 'create it, or correct networkName' };
    return [{ reason: 'network-missing', ...about, ...explained }];
  }
  const serving = facts.servingPool(network);
  if (serving === undefined) {
    const isServedElsewhere = definition.metadata.annotations?.[EXTERNAL_DHCP_ANNOTATION] === 'true';
    return isServedElsewhere ? [] : [{ reason: 'no-pool', ...about, ...explainUnserved([network]) }];
  }
  if (!serving.reading.ok) return [{ reason: 'pool-invalid', ...about, ...explainInvalidPool(serving.key) }];
  const address = wanted === undefined ? undefined : findAddressProblem({ owner, network, macAddress, wanted }, facts);
  const pinned = { path: [...ENTRIES, index, 'ipAddress'], value: formatIpv4Address(wanted ?? 0), ...DEPENDS_ON_OTHERS };
  return [...(address === undefined ? [] : [{ ...address, ...pinned }]), ...findClaimant(entry, owner, facts)];
}

function findClaimant({ index, claim }: Entry, owner: string, facts: AdmissionFacts): AdmissionProblem[] {
  if (claim === undefined) return [];
  const { network, macAddress } = claim;
  const other = [...facts.claimants(network, macAddress)].find((key) => key !== owner);
  if (other === undefined) return [];
  const about = { path: [...ENTRIES, index, 'macAddress'], value: macAddress, ...DEPENDS_ON_OTHERS };
  return [{ reason: 'mac-address-claimed-twice', ...about, ...explainSecondClaim(macAddress, other) }];
}
