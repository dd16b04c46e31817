/**
 * Parses pools and virtual machines from a file of ordinary Kubernetes objects. Nothing is guessed: a file with one problem is
 * refused as a whole, with all its problems, because half a configuration would assign wrong addresses.
 */

import { formatPath, type Pool, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import {
  type AgentLogSettings,
  type ApiObject,
  DEFAULT_NAMESPACE,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  type IPPool,
  type NetworkAttachmentDefinition,
  networkKey,
  type ObjectProblem,
  objectKey,
  parseObject,
  readPoolLogSettings,
  type UnknownField,
  type VirtualMachineNetworkConfig,
} from '@vmdhcp/ippool-api';
import { type ManifestObject, readManifests } from '@vmdhcp/ippool-api/manifests';
import type { AddressClaim, InterfaceClaim } from '@vmdhcp/reconciler';
import {
  contestedAddresses,
  describeRanges,
  fillInDefaults,
  findLeaseTimeProblem,
  poolsOverlap,
  probesConflicts,
  type ResolvedNames,
  toPool,
} from '@vmdhcp/reconciler/pool';
import { readInterfaceEntry } from '@vmdhcp/reconciler/readers';
import type { PoolsFileFinding } from './pools-file-finding.js';

/** A claim, and its place in the file. */
export interface ConfiguredClaim extends AddressClaim {
  /** The index in `spec.networkConfigs`. */
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** A pool, and the claims on its addresses. */
export interface ConfiguredPool {
  readonly pool: Pool;
  /** True if nothing is allocated or served. */
  readonly paused: boolean;
  /** True to probe an address before a new client gets it. */
  readonly probesConflicts: boolean;
  /** What is logged about its packets, from its annotations. */
  readonly log: AgentLogSettings;
  readonly claims: readonly ConfiguredClaim[];
}

/** A pools file that was read: its pools with their clients, by `namespace/name`, and the time servers that are names. */
export interface PoolsFile {
  readonly pools: ReadonlyMap<string, ConfiguredPool>;
  /** NTP servers given by name, which a resolver turns into addresses. */
  readonly ntpNames: ReadonlySet<string>;
}

export type PoolsFileResult =
  | { readonly ok: true; readonly file: PoolsFile; readonly warnings: readonly PoolsFileFinding[] }
  | {
      readonly ok: false;
      readonly problems: readonly PoolsFileFinding[];
      readonly warnings: readonly PoolsFileFinding[];
      /** The pools without problems of their own, with the claims that could be read: for finding what else is wrong. */
      readonly rest: PoolsFile;
    };

type Path = readonly (string | number)[];

interface Located<Kind extends ApiObject = ApiObject> {
  readonly object: Kind;
  /** Notes a problem, unless there is already one about that field. */
  readonly report: (path: Path, message: string) => void;
  readonly find: (path: Path, message: string) => PoolsFileFinding;
  /** How many problems it has. */
  readonly problemCount: () => number;
  /** Unset fields with a default that depends on other fields. */
  readonly missing: readonly ObjectProblem[];
}

/** Fields of an IPPool that a file may omit. */
const WITH_DEFAULTS: ReadonlySet<string> = new Set(['serverIP', 'pool', 'pool.start', 'pool.end']);

/** @param resolved - addresses of NTP servers that are given by name. */
export function parsePoolsFile(text: string, resolved: ResolvedNames = new Map()): PoolsFileResult {
  const reader = new Reader(text);
  const pools = reader.pools(resolved);
  reader.claims(pools);
  reader.warnOfOverlaps(pools);
  const file = { pools, ntpNames: reader.ntpNames() };
  const problems = reader.problems.toSorted(byPlace);
  const warnings = reader.warnings.toSorted(byPlace);
  return problems.length > 0 ? { ok: false, problems, warnings, rest: file } : { ok: true, warnings, file };
}

class Reader {
  readonly problems: PoolsFileFinding[] = [];
  readonly warnings: PoolsFileFinding[] = [];
  readonly #objects: Located[] = [];

  constructor(text: string) {
    const seen = new Set<string>();
    const { objects, problems } = readManifests(text);
    for (const { line, column, ...problem } of problems)
      this.problems.push({ line, column, object: 'file', path: '', message: sentenceOf(problem) });
    for (const manifest of objects) this.#readManifest(manifest, seen);
    if (this.#of('IPPool').length === 0 && this.problems.length === 0) {
      this.problems.push({ line: 1, column: 1, object: 'file', path: '', message: 'holds no IPPool; add one' });
    }
  }

  /** Every pool of the file that has no problem. */
  pools(resolved: ResolvedNames): Map<string, ConfiguredPool & { claims: ConfiguredClaim[] }> {
    const pools = new Map<string, ConfiguredPool & { claims: ConfiguredClaim[] }>();
    for (const { object, report, problemCount, missing } of this.#of<IPPool>('IPPool')) {
      const checked = toPool(object, resolved);
      for (const { path, message, remedy } of checked.ok ? [] : checked.problems) report(path, `${message}; ${remedy}`);
      reportLeaseTime(object, report);
      const log = readLogSettings(object, report);
      if (problemCount() === 0) for (const problem of missing) report(problem.path, sentenceOf(problem));
      if (checked.ok && problemCount() === 0)
        pools.set(checked.value.name, {
          pool: checked.value,
          paused: object.spec.paused === true,
          probesConflicts: probesConflicts(object.spec),
          log,
          claims: [],
        });
    }
    return pools;
  }

  /** On networks apart, two pools may have the same addresses, and the file does not name the interfaces. */
  warnOfOverlaps(pools: ReadonlyMap<string, ConfiguredPool>): void {
    const others: Pool[] = [];
    for (const { object, find } of this.#of<IPPool>('IPPool')) {
      const configured = pools.get(objectKey(object.metadata));
      // A pool that is not served gives no address to anybody.
      if (configured === undefined || configured.paused) continue;
      const { pool } = configured;
      const other = others.find((one) => poolsOverlap(pool, one) && contestedBy(pool, one).length > 0);
      if (other !== undefined) this.warnings.push(find(['spec', 'ipv4Config'], explainOverlap(pool, other)));
      others.push(pool);
    }
  }

  ntpNames(): Set<string> {
    const servers = this.#of<IPPool>('IPPool').flatMap(({ object }) => object.spec.ipv4Config?.ntp ?? []);
    return new Set(servers.filter((server) => parseIpv4Address(server) === undefined));
  }

  /** Adds to each pool the claims on its addresses. */
  claims(pools: ReadonlyMap<string, { readonly claims: ConfiguredClaim[] }>): void {
    const poolOfNetwork = this.#poolsOfNetworks();
    for (const { object, find, report } of this.#of<VirtualMachineNetworkConfig>('VirtualMachineNetworkConfig')) {
      if (object.spec.paused === true) continue;
      for (const [index, config] of (object.spec.networkConfigs ?? []).entries()) {
        const path = ['spec', 'networkConfigs', index];
        const pool = pools.get(poolOfNetwork.get(networkKey(config.networkName, object.metadata.namespace)) ?? '');
        const claim = readInterfaceEntry(config, object.metadata.namespace ?? DEFAULT_NAMESPACE);
        if ('reason' in claim) {
          report([...path, claim.field], sentenceOf(claim));
        } else if (pool === undefined) {
          this.#reportNoPool(
            find([...path, 'networkName'], `no pool serves network ${config.networkName}; correct its name or add an IPPool`),
          );
        } else {
          const { line, column } = find(path, '');
          pool.claims.push({ ...toClaim(object, claim), index, line, column });
        }
      }
    }
  }

  /** Says that no pool serves a network, unless pools have problems of their own: those explain it. */
  #reportNoPool(finding: PoolsFileFinding): void {
    if (this.problems.length === 0) this.warnings.push(finding);
  }

  /**
   * The pool of each network: by the label of its NetworkAttachmentDefinition if the file has it, otherwise by the pool's
   * networkName.
   */
  #poolsOfNetworks(): Map<string, string> {
    const pools = new Map<string, string>();
    for (const { object, report } of this.#of<IPPool>('IPPool')) {
      const network = networkKey(object.spec.networkName, object.metadata.namespace);
      const first = pools.get(network);
      if (first === undefined) pools.set(network, objectKey(object.metadata));
      else report(['spec', 'networkName'], `network ${network} has the pool ${first} already; give this pool another network`);
    }
    for (const { object } of this.#of<NetworkAttachmentDefinition>('NetworkAttachmentDefinition')) {
      const name = object.metadata.labels?.[IPPOOL_NAME_LABEL];
      const namespace = object.metadata.labels?.[IPPOOL_NAMESPACE_LABEL];
      if (name !== undefined)
        pools.set(objectKey(object.metadata), objectKey({ name, ...(namespace !== undefined && { namespace }) }));
    }
    return pools;
  }

  #of<Kind extends ApiObject>(kind: Kind['kind']): Located<Kind>[] {
    return this.#objects.filter((located): located is Located<Kind> => located.object.kind === kind);
  }

  #readManifest({ value: written, positionOf }: ManifestObject, seen: Set<string>): void {
    const value = fillInDefaults(written);
    const place = this.#placeIn(positionOf, describeObject(value));
    const located = this.#readObject(value, place);
    if (located === undefined) return;
    const key = `${located.object.kind} ${objectKey(located.object.metadata)}`;
    if (seen.has(key)) place.report(['metadata', 'name'], 'is in the file twice; remove one');
    seen.add(key);
    this.#objects.push(located);
  }

  /** Undefined if the object is too wrong to report anything else about it. */
  #readObject(value: unknown, place: Pick<Located, 'report' | 'find' | 'problemCount'>): Located | undefined {
    const parsed = parseObject(value);
    const problems = parsed.ok ? [] : parsed.problems;
    const missing = problems.filter(({ path, isMissing }) => isMissing && WITH_DEFAULTS.has(path.slice(2).join('.')));
    for (const problem of problems) if (!missing.includes(problem)) place.report(problem.path, sentenceOf(problem));
    this.#noteUnknownFields(parsed.unknownFields, place);
    const object = parsed.ok ? parsed.object : parsed.rest;
    if (object !== undefined) return { object, missing, ...place };
    if (place.problemCount() === 0) for (const problem of missing) place.report(problem.path, sentenceOf(problem));
    return undefined;
  }

  /**
   * A field that looks misspelled is a problem, because the intended setting would be silently missing; other unknown fields may
   * be of another version.
   */
  #noteUnknownFields(fields: readonly UnknownField[], { report, find }: Pick<Located, 'report' | 'find'>): void {
    for (const { path, suggestion, ...field } of fields) {
      if (suggestion === undefined) this.warnings.push(find(path, sentenceOf(field)));
      else report(path, sentenceOf(field));
    }
  }

  #placeIn(positionOf: ManifestObject['positionOf'], name: string): Pick<Located, 'report' | 'find' | 'problemCount'> {
    const reported = new Set<string>();
    const find = (path: Path, message: string): PoolsFileFinding => ({
      ...positionOf(path),
      object: name,
      path: path.length === 0 ? '' : formatPath(path),
      message,
    });
    const report = (path: Path, message: string): void => {
      const places = path.map((_, index) => formatPath(path.slice(0, index + 1)));
      if (places.some((place) => reported.has(place))) return;
      reported.add(path.length === 0 ? '' : formatPath(path));
      this.problems.push(find(path, message));
    };
    return { find, report, problemCount: () => reported.size };
  }
}

const NONE = { assignments: [] };

function contestedBy(pool: Pool, other: Pool): ReturnType<typeof contestedAddresses> {
  return contestedAddresses({ pool, ...NONE }, { pool: other, ...NONE });
}

function explainOverlap(pool: Pool, other: Pool): string {
  const addresses = describeRanges(contestedBy(pool, other));
  return `IPPool ${other.name} uses ${addresses} too, or the IPv6 addresses beside them: if one interface has both networks, two hosts could get one address; choose ranges, servers and CIDRs that are apart`;
}

function readLogSettings(object: IPPool, report: Located['report']): AgentLogSettings {
  const { settings, problems } = readPoolLogSettings(object.metadata.annotations ?? {});
  for (const problem of problems) report(['metadata', 'annotations', problem.key], sentenceOf(problem));
  return settings;
}

function reportLeaseTime({ spec }: IPPool, report: Located['report']): void {
  const problem = findLeaseTimeProblem(spec.ipv4Config);
  if (problem !== undefined) report(problem.path, sentenceOf(problem));
}

function sentenceOf({ message, remedy }: { readonly message: string; readonly remedy: string }): string {
  return `${message}; ${remedy}`;
}

function byPlace(one: PoolsFileFinding, other: PoolsFileFinding): number {
  return one.line - other.line || one.column - other.column;
}

function toClaim({ metadata }: VirtualMachineNetworkConfig, { macAddress, wanted }: InterfaceClaim): AddressClaim {
  return { owner: objectKey(metadata), macAddress, ...(wanted !== undefined && { wanted }) };
}

function describeObject(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'document';
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } | null };
  const name = typeof metadata?.name === 'string' ? metadata.name : '(no name)';
  const namespace = typeof metadata?.namespace === 'string' ? metadata.namespace : undefined;
  return `${typeof kind === 'string' ? kind : 'object'} ${objectKey({ name, ...(namespace !== undefined && { namespace }) })}`;
}
