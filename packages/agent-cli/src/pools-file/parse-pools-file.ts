/**
 * Pools and virtual machines from a file of ordinary Kubernetes objects. Nothing is guessed: a file with one problem is
 * refused whole, with every problem it has, because half a configuration gives wrong addresses.
 */
import { formatPath, type MacAddress, type Pool, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  type ApiObject,
  IPPOOL_NAME_LABEL,
  IPPOOL_NAMESPACE_LABEL,
  type IPPool,
  type NetworkAttachmentDefinition,
  networkKey,
  objectKey,
  parseObject,
  type VirtualMachineNetworkConfig,
} from '@vmdhcp/ippool-api';
import { type AddressClaim, fillInDefaults, type ResolvedNames, toPool } from '@vmdhcp/reconciler';
import { type Document, LineCounter, parseAllDocuments } from 'yaml';
import type { Finding } from './finding.js';

/** A pool, and who wants an address of it. */
export interface ConfiguredPool {
  readonly pool: Pool;
  /** Nothing is allocated or served. */
  readonly paused: boolean;
  readonly claims: readonly AddressClaim[];
}

export interface PoolsFile {
  readonly pools: ReadonlyMap<string, ConfiguredPool>;
  /** NTP servers given by name, which only a resolver can turn into addresses. */
  readonly ntpNames: ReadonlySet<string>;
}

export type PoolsFileResult =
  | { readonly ok: true; readonly file: PoolsFile; readonly warnings: readonly Finding[] }
  | { readonly ok: false; readonly problems: readonly Finding[]; readonly warnings: readonly Finding[] };

type Path = readonly (string | number)[];

interface Located<Kind extends ApiObject = ApiObject> {
  readonly object: Kind;
  readonly find: (path: Path, message: string) => Finding;
}

/** @param resolved - addresses of NTP servers that are given by name. */
export function parsePoolsFile(text: string, resolved: ResolvedNames = new Map()): PoolsFileResult {
  const reader = new Reader(text);
  const pools = reader.pools(resolved);
  reader.claims(pools);
  const { problems, warnings } = reader;
  if (problems.length > 0) return { ok: false, problems, warnings };
  return { ok: true, warnings, file: { pools, ntpNames: reader.ntpNames() } };
}

class Reader {
  readonly problems: Finding[] = [];
  readonly warnings: Finding[] = [];
  readonly #objects: Located[] = [];

  constructor(text: string) {
    const lines = new LineCounter();
    const seen = new Set<string>();
    const documents = parseAllDocuments(text, { lineCounter: lines, maxAliasCount: 100 } as never) as Document[];
    for (const document of documents) this.#readDocument(document, lines, seen);
    if (this.#of('IPPool').length === 0 && this.problems.length === 0) {
      this.problems.push({ line: 1, column: 1, object: 'file', path: '', message: 'holds no IPPool; add one' });
    }
  }

  /** Every pool of the file that has no problem. */
  pools(resolved: ResolvedNames): Map<string, ConfiguredPool & { claims: AddressClaim[] }> {
    const pools = new Map<string, ConfiguredPool & { claims: AddressClaim[] }>();
    for (const { object, find } of this.#of<IPPool>('IPPool')) {
      const checked = toPool(object, resolved);
      if (checked.ok) pools.set(checked.value.name, { pool: checked.value, paused: object.spec.paused === true, claims: [] });
      else for (const { path, message, remedy } of checked.problems) this.problems.push(find(path, `${message}; ${remedy}`));
    }
    return pools;
  }

  ntpNames(): Set<string> {
    const servers = this.#of<IPPool>('IPPool').flatMap(({ object }) => object.spec.ipv4Config?.ntp ?? []);
    return new Set(servers.filter((server) => parseIpv4Address(server) === undefined));
  }

  /** Adds to each pool who wants an address of it. */
  claims(pools: ReadonlyMap<string, { readonly claims: AddressClaim[] }>): void {
    const poolOfNetwork = this.#poolsOfNetworks();
    for (const { object, find } of this.#of<VirtualMachineNetworkConfig>('VirtualMachineNetworkConfig')) {
      if (object.spec.paused === true) continue;
      for (const [index, config] of (object.spec.networkConfigs ?? []).entries()) {
        const path = ['spec', 'networkConfigs', index];
        const pool = pools.get(poolOfNetwork.get(networkKey(config.networkName, object.metadata.namespace)) ?? '');
        const macAddress = parseMacAddress(config.macAddress);
        if (macAddress === undefined) {
          this.problems.push(
            find([...path, 'macAddress'], `'${config.macAddress}' is no MAC address; write it like 02:00:00:00:00:01`),
          );
        } else if (pool === undefined) {
          this.#reportNoPool(
            find([...path, 'networkName'], `no pool serves network ${config.networkName}; correct its name or add an IPPool`),
          );
        } else {
          pool.claims.push(toClaim(object, macAddress, config.ipAddress));
        }
      }
    }
  }

  /** While pools have problems of their own, that none of them serves a network says nothing. */
  #reportNoPool(finding: Finding): void {
    if (this.problems.length === 0) this.warnings.push(finding);
  }

  /** Network to pool: by the label of its NetworkAttachmentDefinition where the file has it, else by the pool's networkName. */
  #poolsOfNetworks(): Map<string, string> {
    const pools = new Map<string, string>();
    for (const { object, find } of this.#of<IPPool>('IPPool')) {
      const network = networkKey(object.spec.networkName, object.metadata.namespace);
      const first = pools.get(network);
      if (first === undefined) pools.set(network, objectKey(object.metadata));
      else
        this.problems.push(
          find(['spec', 'networkName'], `network ${network} has the pool ${first} already; give this pool another network`),
        );
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

  #readDocument(document: Document, lines: LineCounter, seen: Set<string>): void {
    for (const { pos, message } of document.errors) {
      const { line, col } = lines.linePos(pos[0]);
      const text = `${message.split('\n', 1)[0]?.replace(/ at line \d+, column \d+:?$/, '')}; correct the YAML`;
      this.problems.push({ line, column: col, object: 'file', path: '', message: text });
    }
    if (document.errors.length > 0 || document.contents === null) return;
    const value = fillInDefaults(toPlainValue(document));
    const name = describeObject(value);
    const find = (path: Path, message: string): Finding => ({
      ...positionOf(document, path, lines),
      object: name,
      path: path.length === 0 ? '' : formatPath(path),
      message,
    });
    const parsed = parseObject(value);
    if (!parsed.ok) {
      for (const { path, message } of parsed.problems) this.problems.push(find(path, message));
      return;
    }
    for (const { path, message } of parsed.unknownFields) this.warnings.push(find(path, message));
    if (seen.has(name)) this.problems.push(find(['metadata', 'name'], 'stands in the file twice; remove one'));
    seen.add(name);
    this.#objects.push({ object: parsed.object, find });
  }
}

/** Aliases that would grow without bound read as no object. */
function toPlainValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return undefined;
  }
}

function toClaim(
  object: VirtualMachineNetworkConfig,
  macAddress: MacAddress,
  ipAddress: string | null | undefined,
): AddressClaim {
  const wanted = ipAddress ? parseIpv4Address(ipAddress) : undefined;
  return { owner: objectKey(object.metadata), macAddress, ...(wanted !== undefined && { wanted }) };
}

function describeObject(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'document';
  const { kind, metadata } = value as { kind?: unknown; metadata?: { name?: unknown; namespace?: unknown } | null };
  const name = typeof metadata?.name === 'string' ? metadata.name : '(no name)';
  const namespace = typeof metadata?.namespace === 'string' ? metadata.namespace : undefined;
  return `${typeof kind === 'string' ? kind : 'object'} ${objectKey({ name, ...(namespace !== undefined && { namespace }) })}`;
}

/** Where the field stands, or the nearest thing around it that stands in the file. */
function positionOf(document: Document, path: Path, lines: LineCounter): { line: number; column: number } {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range === undefined) continue;
    const { line, col } = lines.linePos(node.range[0]);
    return { line, column: col };
  }
  return { line: 1, column: 1 };
}
