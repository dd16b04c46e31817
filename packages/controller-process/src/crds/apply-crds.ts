/**
 * Applies the controller's CustomResourceDefinitions to a cluster: creates and updates them, and never removes fields by
 * accident.
 */
import { readFileSync } from 'node:fs';
import {
  APPLIED_BY_VERSION_ANNOTATION,
  type CustomResource,
  ipPoolResource,
  toCustomResourceDefinition,
  virtualMachineNetworkConfigResource,
  wolConfigResource,
} from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import { isRecord, type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiTransport, errorForLog } from '@vmdhcp/kube-runtime/node';
import { CommandError, ExitCode } from '@vmdhcp/service-process';
import { failedRequest } from '../cluster/connect.js';

/** The kinds that the controller of DHCP defines. */
export const CUSTOM_RESOURCES: readonly CustomResource[] = [ipPoolResource, virtualMachineNetworkConfigResource];
/** The definitions that only Wake-on-LAN needs. */
export const WAKE_ON_LAN_RESOURCES: readonly CustomResource[] = [wolConfigResource];

export interface AppliedCrd {
  readonly name: string;
  /** `kept`: a newer version of this program applied it, so it has everything that is needed here, and more. */
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'kept';
}

const OWN_VERSION = readOwnVersion();

const ESTABLISHED_WITHIN_MS = 30_000;
const ESTABLISHED_CHECK_MS = 100;

/** Applies every definition and waits until it is served. @throws CommandError if the server refuses one, or does not respond. */
export async function applyCrds(
  connection: ApiTransport,
  resources: readonly CustomResource[] = CUSTOM_RESOURCES,
): Promise<AppliedCrd[]> {
  try {
    return await applyAll(connection, resources);
  } catch (error) {
    const reported = errorForLog(error);
    if (typeof reported !== 'string') throw error;
    throw failedRequest(error as Error, `the CustomResourceDefinitions cannot be applied: ${reported}`);
  }
}

/**
 * Names of definitions that are missing, or lack something that this version has. Empty if they cannot be read: a controller that
 * does not apply them need not have the right.
 */
export async function findOutdatedCrds(
  connection: ApiTransport,
  resources: readonly CustomResource[] = CUSTOM_RESOURCES,
): Promise<string[]> {
  const client = new ApiObjectClient<KubernetesObject>(connection, Resource.customResourceDefinitions);
  const names = await Promise.all(
    resources.map(async (resource) => {
      const wanted = toCustomResourceDefinition(resource) as unknown as KubernetesObject;
      const present = await client.get(wanted.metadata.name);
      const isEnough = present !== undefined && (isOfNewerVersion(present) || containsAll(present.spec, wanted.spec));
      return isEnough ? [] : [wanted.metadata.name];
    }),
  ).catch(() => []);
  return names.flat();
}

async function applyAll(connection: ApiTransport, resources: readonly CustomResource[]): Promise<AppliedCrd[]> {
  const client = new ApiObjectClient<KubernetesObject>(connection, Resource.customResourceDefinitions);
  const applied: AppliedCrd[] = [];
  for (const resource of resources) {
    const wanted = toCustomResourceDefinition(resource) as unknown as KubernetesObject;
    applied.push({ name: wanted.metadata.name, outcome: await apply(client, wanted) });
  }
  for (const { name } of applied) await waitUntilEstablished(client, name);
  return applied;
}

async function apply(client: ApiObjectClient<KubernetesObject>, wanted: KubernetesObject): Promise<AppliedCrd['outcome']> {
  const present = await client.get(wanted.metadata.name);
  if (present !== undefined && isOfNewerVersion(present)) return 'kept';
  if (present !== undefined && containsAll(present.spec, wanted.spec)) return 'unchanged';
  const result = await (present === undefined
    ? client.create({ ...wanted, metadata: withVersion(wanted.metadata) })
    : client.replace({
        ...present,
        metadata: withVersion(present.metadata),
        spec: { ...(present.spec as object), ...(wanted.spec as object) },
      }));
  if (result.ok) return present === undefined ? 'created' : 'updated';
  // Another client, probably another replica, did it meanwhile.
  if (result.reason === 'already-exists' || result.reason === 'conflict') return apply(client, wanted);
  throw new CommandError(`CustomResourceDefinition ${wanted.metadata.name}: ${result.message}`, ExitCode.failed);
}

/**
 * A definition that names the version of this program, also for those who apply it with kubectl: after a downgrade, the version of the definition that
 * was there before must not stay.
 */
export function toVersionedDefinition(resource: CustomResource): KubernetesObject {
  const { metadata, ...definition } = toCustomResourceDefinition(resource) as unknown as KubernetesObject;
  return { ...definition, metadata: withVersion(metadata) };
}

/** An older program would remove fields that only the newer one knows, so it leaves the definition unchanged. */
export function isOfNewerVersion({ metadata }: KubernetesObject): boolean {
  return isNewerVersion(metadata.annotations?.[APPLIED_BY_VERSION_ANNOTATION] ?? '', OWN_VERSION);
}

/** Compares the numbers of two versions such as 1.2.0; anything after them is ignored. */
export function isNewerVersion(one: string, other: string): boolean {
  const [numbers, others] = [numbersOf(one), numbersOf(other)];
  const at = numbers.findIndex((number, index) => number !== others[index]);
  return at >= 0 && (numbers[at] ?? 0) > (others[at] ?? 0);
}

function numbersOf(version: string): number[] {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)/.exec(version) ?? [];
  return parts.map(Number);
}

function withVersion(metadata: KubernetesObject['metadata']): KubernetesObject['metadata'] {
  return { ...metadata, annotations: { ...metadata.annotations, [APPLIED_BY_VERSION_ANNOTATION]: OWN_VERSION } };
}

function readOwnVersion(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** True if the object has everything that is wanted; it may have more, because the server fills in defaults. */
export function containsAll(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(present) &&
      present.length === wanted.length &&
      wanted.every((item, index) => containsAll(present[index], item))
    );
  }
  if (!isRecord(wanted)) return present === wanted;
  return isRecord(present) && Object.entries(wanted).every(([key, value]) => containsAll(present[key], value));
}

async function waitUntilEstablished(client: ApiObjectClient<KubernetesObject>, name: string): Promise<void> {
  const giveUpAtMs = performance.now() + ESTABLISHED_WITHIN_MS;
  for (;;) {
    const conditions = readConditions((await client.get(name))?.status);
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return;
    if (performance.now() > giveUpAtMs) {
      const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False');
      const why = refused?.message ?? 'check its conditions';
      throw new CommandError(`CustomResourceDefinition ${name} is not served after 30 seconds: ${why}`, ExitCode.failed);
    }
    await new Promise((resolve) => setTimeout(resolve, ESTABLISHED_CHECK_MS));
  }
}
