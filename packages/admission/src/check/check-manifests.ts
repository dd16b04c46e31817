/** Finds what admission would report about the objects of files, if a cluster had only these objects. */
import { parseObject, type UnknownField } from '@vmdhcp/ippool-api';
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import {
  type AdmissionRequest,
  type AdmissionReview,
  type ClusterNetworks,
  defaultIpPool,
  factsOfObjects,
  fillInDefaults,
  reviewIpPool,
  reviewNetworkConfig,
  reviewUnfilledIpPool,
  reviewVirtualMachine,
} from '@vmdhcp/reconciler';
import { byPlace, type CheckFinding } from './check-finding.js';
import {
  BARE_METAL_KINDS,
  type CheckedKind,
  type FieldProblem,
  type LocatedObject,
  type ManifestFile,
  readObjects,
} from './read-objects.js';
import { type BareMetalFacts, type BareMetalReview, bareMetalFacts, reviewBareMetal } from './review-bare-metal.js';
import { readWolConfigs, reviewWolConfig } from './review-wol-config.js';

export interface CheckSettings {
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly clusterNetworks: ClusterNetworks;
}

export interface CheckResult {
  /** Sorted by file, line and column. */
  readonly findings: readonly CheckFinding[];
  /** How many objects of each kind were checked. */
  readonly checked: Readonly<Record<CheckedKind, number>>;
  /** How many objects of other kinds the files have. */
  readonly ignored: number;
}

/** Returns what admission would find in these files, and every object that they contain. */
export function checkManifests(files: readonly ManifestFile[], { namespace, clusterNetworks }: CheckSettings): CheckResult {
  const { objects, findings, ignored } = readObjects(files, namespace);
  const filled = objects.map((one) => ({ ...one, object: withDefaults(one, clusterNetworks) }));
  const facts = factsOfObjects(
    filled.filter(({ kind }) => isOfDhcp(kind)).map(({ object }) => object),
    clusterNetworks,
  );
  const hosts = bareMetalFacts(
    objects.map(({ object }) => object),
    namespace,
  );
  const wolConfigs = readWolConfigs(objects.map(({ object }) => object));
  const found = objects.flatMap((located, index) => {
    if (!isOfDhcp(located.kind)) {
      const { problems, warnings } = reviewOther(located, { hosts, wolConfigs });
      return toFindings(located, problems, warnings);
    }
    const object = filled[index]?.object ?? located.object;
    const defaults = located.kind === 'IPPool' ? defaultIpPool(creationOf(located.object), facts) : undefined;
    const unfilled = defaults?.problems ?? [];
    const review =
      unfilled.length === 0
        ? reviewOne({ ...located, object }, facts)
        : reviewUnfilledIpPool(creationOf(object), facts, unfilled);
    return toFindings(located, review.problems, [...(defaults?.warnings ?? []), ...review.warnings]);
  });
  return { findings: [...findings, ...found].toSorted(byPlace), checked: countKinds(objects), ignored };
}

interface OtherFacts {
  readonly hosts: BareMetalFacts;
  readonly wolConfigs: Parameters<typeof reviewWolConfig>[1];
}

function reviewOther({ kind, object }: LocatedObject, { hosts, wolConfigs }: OtherFacts): BareMetalReview {
  return kind === 'WolConfig' ? reviewWolConfig(object, wolConfigs) : reviewBareMetal(object, hosts);
}

function isOfDhcp(kind: CheckedKind): boolean {
  return kind !== 'WolConfig' && !BARE_METAL_KINDS.some((one) => one === kind);
}

function withDefaults({ kind, object }: LocatedObject, { apiServers }: ClusterNetworks): KubernetesObject {
  return kind === 'IPPool' ? (fillInDefaults(object, apiServers) as KubernetesObject) : object;
}

function creationOf(object: KubernetesObject): AdmissionRequest {
  return { operation: 'CREATE', object, namespace: object.metadata.namespace ?? '', name: object.metadata.name };
}

function reviewOne({ kind, object }: LocatedObject, facts: ReturnType<typeof factsOfObjects>): AdmissionReview {
  const request = creationOf(object);
  if (kind === 'IPPool') return reviewIpPool(request, facts);
  if (kind === 'VirtualMachineNetworkConfig') return reviewNetworkConfig(request, facts);
  const { problems, unknownFields } = parsed(object);
  if (problems.length > 0 || kind === 'NetworkAttachmentDefinition')
    return { allowed: problems.length === 0, problems, warnings: unknownFields };
  return reviewVirtualMachine(request, facts, { onProblem: 'Refuse' });
}

function parsed(object: KubernetesObject) {
  const { status: _, ...written } = object;
  const result = parseObject(written);
  return { problems: result.ok ? [] : result.problems, unknownFields: result.unknownFields };
}

/** Files need not contain what a cluster already has. */
const MAY_BE_ELSEWHERE: ReadonlySet<FieldProblem['reason']> = new Set(['network-missing', 'no-pool']);

function toFindings(
  { note }: LocatedObject,
  problems: readonly FieldProblem[],
  warnings: readonly FieldProblem[],
): CheckFinding[] {
  const seen = new Set<string>();
  return [
    ...problems.map((one) => note(MAY_BE_ELSEWHERE.has(one.reason) ? 'warning' : 'problem', one)),
    ...warnings.map((one) => note(isMisspelled(one) ? 'problem' : 'warning', one)),
  ].filter((finding) => {
    // Validation usually also finds what prevents defaults.
    const key = `${finding.field} ${finding.line} ${finding.column} ${finding.field === '' ? finding.message : ''}`;
    const isNew = !seen.has(key) || finding.severity === 'warning';
    if (finding.severity === 'problem') seen.add(key);
    return isNew;
  });
}

/** The intended setting would be silently ignored. */
function isMisspelled(problem: FieldProblem): boolean {
  return problem.reason === 'unknown-field' && (problem as Partial<UnknownField>).suggestion !== undefined;
}

function countKinds(objects: readonly LocatedObject[]): Record<CheckedKind, number> {
  const counts = {
    ...{ IPPool: 0, VirtualMachineNetworkConfig: 0, NetworkAttachmentDefinition: 0, VirtualMachine: 0, WolConfig: 0 },
    ...{ ClusterAgent: 0, HostEndpoint: 0, HostOperation: 0 },
  };
  for (const { kind } of objects) counts[kind]++;
  return counts;
}
