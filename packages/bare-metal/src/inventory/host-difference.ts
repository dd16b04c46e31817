import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator/address';
import type { KubernetesObject, MergePatch, OwnerReference } from '@vmdhcp/kube-runtime';
import { formatTime, readField } from '@vmdhcp/kube-runtime';
import { isEndpointReference } from '../host/read-host.js';
import { readFields, readFlag, readNonEmptyText } from '../object/read-field.js';
import { healthOf, type WantedHost, wantedBasic, wantedLabels } from './wanted-host.js';

/** What to write into the status, and which fields change; undefined if nothing. */
export interface StatusDifference {
  readonly patch: MergePatch;
  /** Without `status.`, sorted. */
  readonly fields: readonly string[];
}

/** How the status of an object differs from the wanted one. Other fields stay. */
export function statusDifference(wanted: WantedHost, { status }: KubernetesObject, nowMs: number): StatusDifference | undefined {
  const basic = differing(wantedBasic(wanted, replacesAt(wanted, status, nowMs)), readFields(status, 'basic'));
  const others = completion(wanted, status);
  if (basic === undefined && others === undefined) return undefined;
  const fields = [...Object.keys(others ?? {}), ...Object.keys(basic ?? {}).map((name) => `basic.${name}`)].toSorted();
  return { patch: { status: { ...others, ...(basic && { basic }), lastUpdateTime: formatTime(nowMs) } }, fields };
}

/** Undefined if its MAC address replaces no other one. */
function replacesAt(wanted: WantedHost, status: unknown, nowMs: number): string | undefined {
  const observed = parseMacAddress(readNonEmptyText(status, 'basic', 'mac') ?? '');
  return replacedMacAddress(wanted, observed) === undefined ? undefined : formatTime(nowMs);
}

/** The parts of an object besides `basic`. Health and information are written by others: only their absence counts. */
function completion(wanted: WantedHost, status: unknown): Record<string, unknown> | undefined {
  const named = differing({ clusterAgent: wanted.clusterAgent }, readFields(status));
  const hasHealth = readFlag(status, 'healthy') !== undefined;
  const hasInfo = typeof readField(status, 'info') === 'object';
  if (named === undefined && hasHealth && hasInfo) return undefined;
  return {
    ...named,
    ...(!hasHealth && healthOf(readFlag(status, 'healthReady') ?? false)),
    ...(!hasInfo && { info: {} }),
  };
}

/** How labels and owners differ; undefined if they do not. `replacesOwners`: the patch replaces a list. */
export function metadataDifference(
  wanted: WantedHost,
  { metadata }: KubernetesObject,
): { readonly patch: MergePatch; readonly replacesOwners: boolean } | undefined {
  const labels = differing(wantedLabels(wanted), metadata.labels ?? {});
  const owners = metadata.ownerReferences ?? [];
  const wantedOwner = wanted.owner === undefined ? [] : [wanted.owner];
  const replacesOwners = !areSame(owners.filter(isEndpointReference), wantedOwner);
  if (labels === undefined && !replacesOwners) return undefined;
  const ownerReferences = [...owners.filter((one) => !isEndpointReference(one)), ...wantedOwner];
  return { patch: { metadata: { ...(labels && { labels }), ...(replacesOwners && { ownerReferences }) } }, replacesOwners };
}

/** The MAC address that is replaced; undefined if none is. */
export function replacedMacAddress({ macAddress }: WantedHost, observed: MacAddress | undefined): MacAddress | undefined {
  return macAddress === undefined || observed === macAddress ? undefined : observed;
}

type Fields = Readonly<Record<string, unknown>>;

/** The wanted fields that differ; undefined if none do. An empty text counts as missing. */
function differing(wanted: Fields, observed: Fields): Record<string, unknown> | undefined {
  let changed: Record<string, unknown> | undefined;
  for (const name of Object.keys(wanted)) {
    const there = Object.hasOwn(observed, name) ? observed[name] : undefined;
    if (isOther(wanted[name], there)) changed = { ...changed, [name]: wanted[name] };
  }
  return changed;
}

function isOther(wanted: unknown, there: unknown): boolean {
  return wanted === null ? there !== undefined && there !== null && there !== '' : there !== wanted;
}

function areSame(one: readonly OwnerReference[], other: readonly OwnerReference[]): boolean {
  return one.length === other.length && one.every((reference, index) => isSame(reference, other[index]));
}

function isSame(one: OwnerReference, other: OwnerReference | undefined): boolean {
  return one.uid === other?.uid && one.name === other.name && one.controller === true && one.blockOwnerDeletion === true;
}
