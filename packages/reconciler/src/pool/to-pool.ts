import {
  type Checked,
  INFINITE_LEASE_TIME_SECONDS,
  isHostName,
  type Pool,
  type PoolDefinition,
  type PoolOptionsDefinition,
  type Problem,
  parseIpv4Address,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import type { IPPool, IPv4Config, IPv6Config } from '@vmdhcp/ippool-api';
import { objectKey } from '@vmdhcp/ippool-api/agent';
import type { PoolReason } from './pool-reason.js';
import { toDhcpv6Pool } from './to-dhcpv6-pool.js';

/** Addresses of NTP servers that a pool names; a name that is missing here is left out of the option. */
export type ResolvedNames = ReadonlyMap<string, readonly string[]>;

/** The path of a pool definition's field in an IPPool. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  cidr: ['cidr'],
  serverAddress: ['serverIP'],
  start: ['pool', 'start'],
  end: ['pool', 'end'],
  ranges: ['pool', 'ranges'],
  exclude: ['pool', 'exclude'],
  reservations: ['reservations'],
  leaseTimeSeconds: ['leaseTime'],
};

const OPTION_PATHS: Readonly<Record<string, string>> = {
  dnsServers: 'dns',
  ntpServers: 'ntp',
  bootFile: 'bootfile',
  byCode: 'options',
};

/** The pool that an IPPool describes, named `namespace/name`, or its problems with paths into the IPPool. */
export function toPool(object: IPPool, resolved: ResolvedNames = new Map()): Checked<Pool, PoolReason> {
  const { ipv4Config } = object.spec;
  if (ipv4Config === undefined) {
    const problem = { reason: 'ipv4-config-missing', path: ['spec', 'ipv4Config'], value: undefined } as const;
    return { ok: false, problems: [{ ...problem, message: 'the pool has no IPv4 settings', remedy: 'set spec.ipv4Config' }] };
  }
  const checked = validatePool(toDefinition(object, ipv4Config, resolved));
  const wrongServers = ntpProblems(ipv4Config.ntp ?? []);
  if (!checked.ok) return { ok: false, problems: [...checked.problems.map(toObjectProblem), ...wrongServers] };
  const ipv6 = toDhcpv6Pool(object, checked.value);
  const problems = [...wrongServers, ...(ipv6.ok ? [] : ipv6.problems)];
  if (!ipv6.ok || problems.length > 0) return { ok: false, problems };
  return ipv6.value === undefined ? checked : { ok: true, value: { ...checked.value, dhcpv6: ipv6.value } };
}

/** An invalid address of digits and dots is not a name either: a top-level domain is not a number. Source: RFC 3696 §2. */
function ntpProblems(servers: readonly string[]): Problem<PoolReason>[] {
  return servers.flatMap((value, index) => {
    if (parseIpv4Address(value) !== undefined || (isHostName(value) && !/^[\d.]+$/.test(value))) return [];
    const message = `${JSON.stringify(value)} is neither an IPv4 address nor a host name`;
    const remedy = 'write an address, as in 192.168.48.1, or a name, as in time.example.org';
    return [{ reason: 'not-a-time-server', path: ['spec', 'ipv4Config', 'ntp', index], value, message, remedy }];
  });
}

function toDefinition({ metadata, spec }: IPPool, config: IPv4Config, resolved: ResolvedNames): PoolDefinition {
  const { reservations = [] } = config;
  const leaseTime = config.leaseTime ?? 0;
  return {
    name: objectKey(metadata),
    cidr: config.cidr,
    // The API does not accept empty text here; from a person, it counts as missing, like in upstream.
    ...(config.serverIP !== '' && { serverAddress: config.serverIP }),
    ...(config.pool.start !== '' && { start: config.pool.start }),
    ...(config.pool.end !== '' && { end: config.pool.end }),
    ranges: config.pool.ranges ?? [],
    exclude: config.pool.exclude ?? [],
    reservations: reservations.map(({ macAddress, ipAddress, hostname }) => ({
      macAddress,
      address: ipAddress,
      ...(hostname !== undefined && { hostname }),
    })),
    // Upstream reads a missing, zero or negative lease time as the default.
    ...(leaseTime > 0 && { leaseTimeSeconds: Math.min(leaseTime, INFINITE_LEASE_TIME_SECONDS) }),
    ...takenAsTheyAre(config),
    rapidCommit: spec.rapidCommit ?? false,
    options: { ...toOptions(config, resolved), ...toIpv6OnlyWait(spec.ipv6Config) },
  };
}

function takenAsTheyAre({
  dynamic,
  relays,
  authoritative,
}: IPv4Config): Pick<PoolDefinition, 'dynamic' | 'relays' | 'authoritative'> {
  return {
    ...(dynamic !== undefined && { dynamic }),
    ...(relays !== undefined && { relays }),
    ...(authoritative !== undefined && { authoritative }),
  };
}

function toIpv6OnlyWait({ ipv6OnlyWait }: Partial<IPv6Config> = {}): Pick<PoolOptionsDefinition, 'ipv6OnlyWaitSeconds'> {
  return ipv6OnlyWait === undefined ? {} : { ipv6OnlyWaitSeconds: ipv6OnlyWait };
}

function toOptions(config: IPv4Config, resolved: ResolvedNames): NonNullable<PoolDefinition['options']> {
  const {
    router,
    dns = [],
    domainName,
    domainSearch = [],
    ntp = [],
    mtu,
    staticRoutes = [],
    bootByArchitecture = [],
    options = [],
  } = config;
  return {
    ...(router && { router }),
    dnsServers: dns,
    ...(domainName && { domainName }),
    domainSearch: domainSearch.filter((name) => name !== ''),
    ntpServers: ntpAddresses(ntp, resolved),
    ...(mtu !== undefined && { mtu }),
    staticRoutes,
    ...toBoot(config),
    bootByArchitecture: bootByArchitecture.map((entry) => ({ architecture: entry.architecture, ...toBoot(entry) })),
    byCode: options,
  };
}

/** As many as fit into an option (RFC 2132 §8.3): the answer of a resolver must not make a pool invalid. */
const MOST_NTP_SERVERS = 63;

function ntpAddresses(servers: readonly string[], resolved: ResolvedNames): string[] {
  const addresses = servers.flatMap((server) =>
    parseIpv4Address(server) === undefined ? (resolved.get(server) ?? []) : [server],
  );
  return [...new Set(addresses)].slice(0, MOST_NTP_SERVERS);
}

function toBoot({ nextServer, bootfile }: Pick<IPv4Config, 'nextServer' | 'bootfile'>) {
  return { ...(nextServer !== undefined && { nextServer }), ...(bootfile !== undefined && { bootFile: bootfile }) };
}

/** A problem of a pool definition, with its path in the IPPool. */
export function toObjectProblem<Reason extends string>(problem: Problem<Reason>): Problem<Reason> {
  return { ...problem, path: toObjectPath(problem.path) };
}

function toObjectPath([field = '', ...rest]: readonly (string | number)[]): (string | number)[] {
  if (rest[0] === 'ipv6OnlyWaitSeconds') return ['spec', 'ipv6Config', 'ipv6OnlyWait'];
  const base = ['spec', 'ipv4Config'];
  if (field !== 'options') return [...base, ...(PATHS[field] ?? [field]), ...rest.map(toFieldName)];
  return [...base, ...rest.map((part) => OPTION_PATHS[part] ?? part)];
}

function toFieldName(part: string | number): string | number {
  return part === 'address' ? 'ipAddress' : part;
}
