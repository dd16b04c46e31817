/**
 * Reads the objects of manifest files that concern DHCP, Wake-on-LAN and bare-metal hosts, each with its file; objects of other
 * kinds are counted.
 */
import { API_VERSION, closestName, GROUP, parseObject, WOL_API_VERSION, WOL_GROUP } from '@vmdhcp/ippool-api';
import { BARE_METAL_API_VERSION, BARE_METAL_GROUP } from '@vmdhcp/ippool-api/bare-metal';
import { type ManifestObject, readManifests } from '@vmdhcp/ippool-api/manifests';
import { isRecord, type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';
import type { AdmissionReason } from '@vmdhcp/reconciler';
import type { CheckFinding } from './check-finding.js';

export interface ManifestFile {
  readonly name: string;
  readonly text: string;
}

/** An object that can be reviewed: its metadata is readable. */
export interface LocatedObject {
  readonly kind: CheckedKind;
  /** Includes its namespace, if its kind has one. */
  readonly object: KubernetesObject;
  readonly note: Note;
}

/** Creates a finding about a field of the object. */
export type Note = (severity: CheckFinding['severity'], problem: FieldProblem) => CheckFinding;

export interface FieldProblem {
  readonly reason: AdmissionReason | 'not-yaml' | 'object-twice';
  readonly path: readonly (string | number)[];
  readonly value: unknown;
  readonly message: string;
  readonly remedy: string;
}

export const BARE_METAL_KINDS = ['ClusterAgent', 'HostEndpoint', 'HostOperation'] as const;
const KINDS = [
  'IPPool',
  'VirtualMachineNetworkConfig',
  'NetworkAttachmentDefinition',
  'VirtualMachine',
  'WolConfig',
  ...BARE_METAL_KINDS,
] as const;
/** Kinds without namespaces. */
const OF_CLUSTER: ReadonlySet<string> = new Set(['WolConfig', ...BARE_METAL_KINDS]);
/** Kinds that agents of bare-metal hosts write. */
const WRITTEN_BY_AGENTS: ReadonlySet<string> = new Set(['HostStatus', 'LeaseSlice']);
export type CheckedKind = (typeof KINDS)[number];

const API_GROUPS: Readonly<Record<CheckedKind, string>> = {
  IPPool: GROUP,
  VirtualMachineNetworkConfig: GROUP,
  NetworkAttachmentDefinition: 'k8s.cni.cncf.io',
  VirtualMachine: 'kubevirt.io',
  WolConfig: WOL_GROUP,
  ClusterAgent: BARE_METAL_GROUP,
  HostEndpoint: BARE_METAL_GROUP,
  HostOperation: BARE_METAL_GROUP,
};

/** The kinds of our API groups that files may have. */
const OUR_KINDS = [
  { group: GROUP, apiVersion: API_VERSION, kinds: ['IPPool', 'VirtualMachineNetworkConfig'] },
  { group: WOL_GROUP, apiVersion: WOL_API_VERSION, kinds: ['WolConfig'] },
  { group: BARE_METAL_GROUP, apiVersion: BARE_METAL_API_VERSION, kinds: BARE_METAL_KINDS },
];

export interface ReadObjects {
  readonly objects: readonly LocatedObject[];
  readonly findings: readonly CheckFinding[];
  /** The number of objects of other kinds. */
  readonly ignored: number;
}

/** @param namespace - the namespace of objects that name none. */
export function readObjects(files: readonly ManifestFile[], namespace: string): ReadObjects {
  const objects: LocatedObject[] = [];
  const findings: CheckFinding[] = [];
  let ignored = 0;
  for (const { name, text } of files) {
    const manifests = readManifests(text);
    for (const { line, column, message, remedy } of manifests.problems) {
      const about = { file: name, line, column, object: 'file', field: '' };
      findings.push({ ...about, severity: 'problem', reason: 'not-yaml', message, remedy });
    }
    for (const manifest of manifests.objects) {
      const read = readOne(name, manifest, namespace);
      if (read === 'ignored') ignored++;
      else if ('file' in read) findings.push(read);
      else objects.push(read);
    }
  }
  return { objects, findings: [...findings, ...findTwice(objects)], ignored };
}

function readOne(
  file: string,
  { value, positionOf }: ManifestObject,
  namespace: string,
): LocatedObject | CheckFinding | 'ignored' {
  const note: Note = (severity, { path, value: found, ...problem }) => ({
    file,
    ...positionOf(path),
    severity,
    object: describeObject(value, namespace),
    field: formatField(path),
    ...(found !== undefined && { value: found }),
    ...problem,
  });
  const kind = readText(value, 'kind');
  if (!isRecord(value) || kind === undefined) return wrongObject(value, note);
  const checked = KINDS.find((one) => one === kind && isOfGroup(value, API_GROUPS[one]));
  if (checked === undefined) return otherKind(value, kind, note);
  const metadata = readMetadata(value);
  const name = readText(metadata, 'name') ?? '';
  const place = OF_CLUSTER.has(checked) ? {} : { namespace: readText(metadata, 'namespace') || namespace };
  const object = { ...value, metadata: { ...metadata, name, ...place } };
  return { kind: checked, object: object as unknown as KubernetesObject, note };
}

/** Removes empty fields: Kubernetes reads them as absent, and templates write them. */
function readMetadata(value: unknown): Readonly<Record<string, unknown>> {
  const metadata = readField(value, 'metadata');
  return isRecord(metadata) ? Object.fromEntries(Object.entries(metadata).filter(([, field]) => field !== null)) : {};
}

function isOfGroup(value: unknown, group: string): boolean {
  // An object of one of our kinds with a wrong apiVersion is still reviewed: its schema reports the problem.
  return (readText(value, 'apiVersion') ?? '').startsWith(`${group}/`) || OUR_KINDS.some((ours) => ours.group === group);
}

function wrongObject(value: unknown, note: Note): CheckFinding {
  const parsed = parseObject(value);
  const [problem] = parsed.ok ? [] : parsed.problems;
  const nothing = {
    reason: 'no-object',
    path: [],
    value,
    message: 'is not an object',
    remedy: 'write apiVersion, kind, metadata and spec',
  } as const;
  return note('problem', problem ?? nothing);
}

/** A kind that our API group does not have is a mistake; all other kinds are ignored. */
function otherKind(value: unknown, kind: string, note: Note): CheckFinding | 'ignored' {
  const apiVersion = readText(value, 'apiVersion') ?? '';
  const ours = OUR_KINDS.find(({ group }) => apiVersion.startsWith(`${group}/`));
  if (ours === undefined || WRITTEN_BY_AGENTS.has(kind)) return 'ignored';
  const closest = closestName(kind, ours.group === BARE_METAL_GROUP ? [...ours.kinds, ...WRITTEN_BY_AGENTS] : ours.kinds);
  const remedy = closest === undefined ? `write ${ours.kinds.join(' or ')}` : `did you mean ${closest}?`;
  const message = `${ours.apiVersion} has no kind ${JSON.stringify(kind)}`;
  return note('problem', { reason: 'unknown-kind', path: ['kind'], value: kind, message, remedy });
}

function findTwice(objects: readonly LocatedObject[]): CheckFinding[] {
  const seen = new Map<string, CheckFinding>();
  return objects.flatMap(({ kind, object, note }) => {
    const { namespace, name } = object.metadata;
    const key = `${kind} ${namespace}/${name}`;
    const about = { reason: 'object-twice', path: ['metadata', 'name'], value: name } as const;
    const here = note('problem', { ...about, message: '', remedy: 'remove one of the two' });
    const former = seen.get(key);
    if (former === undefined) {
      seen.set(key, here);
      return [];
    }
    return name === '' ? [] : [{ ...here, message: `is already in ${former.file}:${former.line}` }];
  });
}

function describeObject(value: unknown, namespace: string): string {
  if (!isRecord(value)) return 'document';
  const metadata = readField(value, 'metadata');
  const name = readText(metadata, 'name') ?? '(no name)';
  const kind = readText(value, 'kind') ?? 'object';
  if (OF_CLUSTER.has(kind)) return `${kind} ${name}`;
  return `${kind} ${readText(metadata, 'namespace') || namespace}/${name}`;
}

function formatField(path: readonly (string | number)[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`)).join('');
}
