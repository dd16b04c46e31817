/**
 * Fills in the fields that a person may omit or leave empty in an IPPool: `serverIP`, `pool.start`, `pool.end` and `leaseTime`. An empty `router`
 * means none. Where `pool.ranges` is set, `start` and `end` follow it, for those who read only them.
 *
 * The same defaults that upstream's webhook sets: the first and the last host address of the subnet, and for the server the first one that is neither
 * the router, nor excluded, nor reserved, nor needed by the cluster itself.
 */
import {
  cidrContains,
  DEFAULT_DYNAMIC_LEASE_TIME_SECONDS,
  DEFAULT_LEASE_TIME_SECONDS,
  formatIpv4Address,
  type Ipv4Address,
  type Pool,
  type Problem,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { isRecord, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { PoolReason } from './pool-reason.js';
import { toObjectProblem } from './to-pool.js';

export type PoolDefaults =
  | {
      readonly ok: true;
      /** Fields of `spec.ipv4Config`. */
      readonly settings: { readonly serverIP?: string; readonly leaseTime?: number };
      /** Fields of `spec.ipv4Config.pool`. */
      readonly pool: { readonly start?: string; readonly end?: string };
      /** True if `router` is empty text and must be removed. */
      readonly hasEmptyRouter: boolean;
    }
  /** Why a missing field cannot be filled in, with paths in the IPPool. */
  | { readonly ok: false; readonly problems: readonly Problem<PoolReason>[] };

/**
 * All missing fields, or why they cannot be filled in: a pool is never completed halfway.
 *
 * @param ipv4Config - anything.
 * @param avoided - addresses that the server must not have.
 */
export function planPoolDefaults(ipv4Config: unknown, avoided: readonly Ipv4Address[] = []): PoolDefaults {
  const cidr = readText(ipv4Config, 'cidr');
  // Validation reports the problem.
  if (!isRecord(ipv4Config) || cidr === undefined) return { ok: true, settings: {}, pool: {}, hasEmptyRouter: false };
  const hasEmptyRouter = ipv4Config['router'] === '';
  const leaseTime = leaseTimeOf(ipv4Config);
  const wantsServer = isLeftOut(ipv4Config['serverIP']);
  const wanted = wantedEnds(ipv4Config);
  if (!wantsServer && wanted.size === 0) return { ok: true, settings: leaseTime, pool: {}, hasEmptyRouter };
  const checked = checkAddresses(cidr, ipv4Config, avoided);
  if (!checked.ok) return checked;
  const { serverAddress, range } = checked.value;
  const ends = { start: formatIpv4Address(range.first), end: formatIpv4Address(range.last) };
  return {
    ok: true,
    settings: { ...(wantsServer && { serverIP: formatIpv4Address(serverAddress) }), ...leaseTime },
    pool: Object.fromEntries(
      Object.entries(ends).filter(([name, text]) => wanted.has(name) && readField(ipv4Config, 'pool', name) !== text),
    ),
    hasEmptyRouter,
  };
}

function leaseTimeOf({ leaseTime, dynamic }: Readonly<Record<string, unknown>>): { readonly leaseTime?: number } {
  if (!isLeftOut(leaseTime)) return {};
  const isOpen = Array.isArray(dynamic) && dynamic.length > 0;
  return { leaseTime: isOpen ? DEFAULT_DYNAMIC_LEASE_TIME_SECONDS : DEFAULT_LEASE_TIME_SECONDS };
}

/** `start` and `end`, as far as they are left out or follow `ranges`. */
function wantedEnds(ipv4Config: unknown): ReadonlySet<string> {
  const hasRanges = readRanges(ipv4Config).length > 0;
  return new Set(['start', 'end'].filter((name) => hasRanges || isLeftOut(readField(ipv4Config, 'pool', name))));
}

function readRanges(ipv4Config: unknown): string[] {
  return readList(ipv4Config, 'pool', 'ranges').filter((entry) => typeof entry === 'string');
}

type CheckedAddresses =
  | { readonly ok: true; readonly value: Pool }
  | { readonly ok: false; readonly problems: readonly Problem<PoolReason>[] };

function checkAddresses(
  cidr: string,
  ipv4Config: Readonly<Record<string, unknown>>,
  avoided: readonly Ipv4Address[],
): CheckedAddresses {
  const definition = definitionOf(cidr, ipv4Config);
  const checked = validatePool(definition);
  if (!checked.ok) return { ok: false, problems: checked.problems.map(toObjectProblem) };
  if (checked.value.cidr.prefixLength > LONGEST_PREFIX && !isComplete(definition))
    return { ok: false, problems: [tooSmall(cidr)] };
  const inside = avoided.filter((address) => cidrContains(checked.value.cidr, address)).map(formatIpv4Address);
  if (definition.serverAddress !== undefined || inside.length === 0) return checked;
  const reserved = definition.reservations.map(({ address }) => address);
  const careful = validatePool({
    ...definition,
    exclude: [...definition.exclude, ...reserved, ...inside],
    reservations: [],
  });
  return careful.ok ? careful : { ok: false, problems: careful.problems.map(toObjectProblem) };
}

type AddressDefinition = ReturnType<typeof definitionOf>;

/** Only the settings that affect addresses. */
function definitionOf(cidr: string, ipv4Config: Readonly<Record<string, unknown>>) {
  const serverAddress = readText(ipv4Config, 'serverIP');
  const router = readText(ipv4Config, 'router');
  const [start, end] = [readText(ipv4Config, 'pool', 'start'), readText(ipv4Config, 'pool', 'end')];
  return {
    name: '',
    cidr,
    ranges: readRanges(ipv4Config),
    exclude: readList(ipv4Config, 'pool', 'exclude').filter((entry) => typeof entry === 'string'),
    reservations: reservationsOf(ipv4Config),
    ...(serverAddress && { serverAddress }),
    ...(start && { start }),
    ...(end && { end }),
    options: router ? { router } : {},
  };
}

/** True if a person has chosen the server and the range. */
function isComplete({ serverAddress, start, end, ranges }: AddressDefinition): boolean {
  return serverAddress !== undefined && (ranges.length > 0 || (start !== undefined && end !== undefined));
}

/** In longer ones every address is a host's, and a person must decide which one is the server. */
const LONGEST_PREFIX = 30;

function tooSmall(cidr: string): Problem<PoolReason> {
  return {
    reason: 'subnet-too-small',
    path: ['spec', 'ipv4Config', 'cidr'],
    value: cidr,
    message: `${cidr} is too small to choose the address of the server and the range`,
    remedy: `set serverIP, pool.start and pool.end, or choose a subnet of /${LONGEST_PREFIX} or larger`,
  };
}

function reservationsOf(ipv4Config: unknown): { macAddress: string; address: string }[] {
  return readList(ipv4Config, 'reservations').flatMap((entry) => {
    const [macAddress, address] = [readText(entry, 'macAddress'), readText(entry, 'ipAddress')];
    return macAddress === undefined || address === undefined ? [] : [{ macAddress, address }];
  });
}

/** True if the value counts as missing: absent, `null` or empty text. */
export function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
