/**
 * Validation in two steps, so that one mistake never hides another: every field is read on its own, then named rules look at how the readable ones
 * fit together. A rule reports nothing if one of its fields could not be read.
 */
import { formatIpv4Address, type Ipv4Address, isNeverAHost, UNSPECIFIED_ADDRESS } from '../address/ipv4-address.js';
import {
  broadcastAddressOf,
  cidrContains,
  formatIpv4Cidr,
  type Ipv4Cidr,
  lastAddressOf,
  networkAddressOf,
} from '../address/ipv4-cidr.js';
import {
  type Ipv4Range,
  intersectRanges,
  mergeRanges,
  rangeContains,
  rangesContain,
  sizeOfRange,
  subtractRanges,
} from '../address/ipv4-range.js';
import type { MacAddress } from '../address/mac-address.js';
import type { Checked } from '../problem.js';
import {
  DEFAULT_DYNAMIC_LEASE_TIME_SECONDS,
  DEFAULT_LEASE_TIME_SECONDS,
  MAX_RANGE_SIZE,
  type Pool,
  type Reservation,
} from './pool.js';
import type { PoolDefinition } from './pool-definition.js';
import { type PoolProblemReason, PoolProblems } from './pool-problems.js';
import { type ReadPoolFields, readPoolFields } from './read-pool-fields.js';

/**
 * The pool that `definition` describes, or all of its problems, each with field, value and remedy. Never throws.
 *
 * Defaults: `start` and `end` are the first and last host address, `serverAddress` the first host address that is neither
 * router nor excluded. A pool in which nothing is left to lease is valid: its size is 0.
 */
export function validatePool(definition: PoolDefinition): Checked<Pool, PoolProblemReason> {
  const problems = new PoolProblems();
  const fields = readPoolFields(definition, problems);
  const { cidr } = fields;
  if (cidr === undefined) return { ok: false, problems: problems.all };

  const serverAddress = serverAddressOf({ cidr, fields, problems });
  const ranges = rangesOf(cidr, fields);
  const range = { first: (ranges[0] as Ipv4Range).first, last: (ranges.at(-1) as Ipv4Range).last };

  checkHostAddresses({ cidr, fields, problems });
  checkServer({ cidr, fields, problems });
  checkRange(range, fields, problems);
  checkRanges({ cidr, fields, problems });
  checkInsideSubnet({ cidr, fields, problems }, 'exclude');
  checkInsideSubnet({ cidr, fields, problems }, 'dynamic');
  checkDynamicSize(fields, problems);
  checkGateways({ cidr, fields, problems });
  const reservations = checkReservations({ cidr, fields, problems }, serverAddress);

  if (problems.all.length > 0 || serverAddress === undefined) return { ok: false, problems: problems.all };
  const excluded = excludedRanges({ cidr, fields, problems }, serverAddress);
  const unavailable = mergeRanges([...excluded, ...subtractRanges([range], ranges)]);
  const dynamic = dynamicRanges(fields, excluded);
  const usualSeconds = dynamic.length > 0 ? DEFAULT_DYNAMIC_LEASE_TIME_SECONDS : DEFAULT_LEASE_TIME_SECONDS;
  const { name, leaseTimeSeconds = usualSeconds, authoritative = false, rapidCommit = false } = definition;
  return {
    ok: true,
    value: {
      name,
      cidr,
      serverAddress,
      range,
      ranges,
      unavailable: unavailable.flatMap((one) => intersectRanges(range, one) ?? []),
      reservations,
      dynamic,
      leaseTimeSeconds,
      relays: fields.relays,
      authoritative,
      rapidCommit,
      options: fields.options,
    },
  };
}

interface Subject {
  readonly cidr: Ipv4Cidr;
  readonly fields: ReadPoolFields;
  readonly problems: PoolProblems;
}

/** True if a host can have the address. In a /31 and a /32 every address is a host's. Source: RFC 3021 §2.1. */
function firstHostOf(cidr: Ipv4Cidr): Ipv4Address {
  return cidr.prefixLength >= 31 ? cidr.network : cidr.network + 1;
}

function lastHostOf(cidr: Ipv4Cidr): Ipv4Address {
  return cidr.prefixLength >= 31 ? lastAddressOf(cidr) : lastAddressOf(cidr) - 1;
}

/** What may be leased, sorted and merged: `ranges`, or from `start` to `end`. */
function rangesOf(cidr: Ipv4Cidr, { ranges, start, end }: ReadPoolFields): Ipv4Range[] {
  if (ranges.length > 0) return mergeRanges(ranges.map(({ range }) => range));
  return [{ first: start ?? firstHostOf(cidr), last: end ?? lastHostOf(cidr) }];
}

/** The given server address, or the first one that is possible; undefined, and a problem, if none is left. */
function serverAddressOf({ cidr, fields, problems }: Subject): Ipv4Address | undefined {
  if (fields.serverAddress !== undefined || !problems.isClear('serverAddress')) return fields.serverAddress;
  const serverAddress = defaultServer(cidr, fields);
  if (serverAddress === undefined) {
    problems.add('no-server-address-left', {
      path: ['serverAddress'],
      value: undefined,
      message: `no address of ${formatIpv4Cidr(cidr)} is left for the DHCP server`,
      remedy: 'exclude fewer addresses, widen the cidr, or set the server address',
    });
  }
  return serverAddress;
}

function defaultServer(cidr: Ipv4Cidr, fields: ReadPoolFields): Ipv4Address | undefined {
  const taken = fields.exclude.map((entry) => entry.range);
  if (fields.options.router !== undefined) taken.push({ first: fields.options.router, last: fields.options.router });
  for (const { address } of fields.reservations) taken.push({ first: address, last: address });
  let candidate = firstHostOf(cidr);
  for (const range of mergeRanges(taken)) {
    if (rangeContains(range, candidate)) candidate = range.last + 1;
  }
  return candidate <= lastHostOf(cidr) ? candidate : undefined;
}

/** Each range begins and ends at an address that a host in the subnet can have. */
function checkRanges(subject: Subject): void {
  for (const { index, range } of subject.fields.ranges) {
    const isFirstFine = checkHostAddress(subject, ['ranges', index], range.first);
    if (isFirstFine && range.last !== range.first) checkHostAddress(subject, ['ranges', index], range.last);
  }
}

/** Start, end, server and router must be addresses that a host in the subnet can have. */
function checkHostAddresses({ cidr, fields, problems }: Subject): void {
  if (isNeverAHost(firstHostOf(cidr))) {
    problems.add('not-a-host-address', {
      path: ['cidr'],
      value: formatIpv4Cidr(cidr),
      message: `${formatIpv4Cidr(cidr)} holds no address that a host can have`,
      remedy: 'choose a subnet of unicast addresses',
    });
    return;
  }
  const subjects = [
    { path: ['start'], address: fields.start },
    { path: ['end'], address: fields.end },
    { path: ['serverAddress'], address: fields.serverAddress },
    { path: ['options', 'router'], address: fields.options.router },
  ];
  for (const { path, address } of subjects) {
    if (address !== undefined) checkHostAddress({ cidr, fields, problems }, path, address);
  }
}

function checkHostAddress({ cidr, problems }: Subject, path: readonly (string | number)[], address: Ipv4Address): boolean {
  const text = formatIpv4Address(address);
  const subnet = formatIpv4Cidr(cidr);
  if (!cidrContains(cidr, address)) {
    problems.add('outside-subnet', {
      path: path,
      value: text,
      message: `${text} is outside ${subnet}`,
      remedy: 'choose an address inside the subnet or correct the cidr',
    });
  } else if (address === networkAddressOf(cidr)) {
    problems.add('is-network-address', {
      path: path,
      value: text,
      message: `${text} is the network address of ${subnet}`,
      remedy: `choose one from ${formatIpv4Address(firstHostOf(cidr))} on`,
    });
  } else if (address === broadcastAddressOf(cidr)) {
    problems.add('is-broadcast-address', {
      path: path,
      value: text,
      message: `${text} is the broadcast address of ${subnet}`,
      remedy: `choose one up to ${formatIpv4Address(lastHostOf(cidr))}`,
    });
  } else if (isNeverAHost(address)) {
    problems.add('not-a-host-address', {
      path: path,
      value: text,
      message: `${text} can be no host's address`,
      remedy: 'choose a unicast address',
    });
  } else {
    return true;
  }
  return false;
}

function checkServer({ fields, problems }: Subject): void {
  const { serverAddress } = fields;
  if (serverAddress === undefined) return;
  const text = formatIpv4Address(serverAddress);
  if (serverAddress === fields.options.router) {
    problems.add('server-is-router', {
      path: ['serverAddress'],
      value: text,
      message: `${text} is the router's address too`,
      remedy: 'give the DHCP server an address of its own',
    });
  }
}

function checkRange(range: Ipv4Range, fields: ReadPoolFields, problems: PoolProblems): void {
  if (sizeOfRange(range) > MAX_RANGE_SIZE) {
    problems.add('range-too-large', {
      path: [widestFieldOf(fields)],
      value: sizeOfRange(range),
      message: `the range holds ${sizeOfRange(range)} addresses`,
      remedy: `set start and end, or ranges, so that it holds at most ${MAX_RANGE_SIZE} from the first to the last`,
    });
  }
  if (range.first <= range.last || !problems.isClear('start') || !problems.isClear('end')) return;
  const path = fields.end === undefined ? 'start' : 'end';
  const [first, last] = [formatIpv4Address(range.first), formatIpv4Address(range.last)];
  problems.add('range-reversed', {
    path: [path],
    value: path === 'end' ? last : first,
    message: `the range ends at ${last}, before its start ${first}`,
    remedy: 'swap start and end',
  });
}

function widestFieldOf({ ranges, end }: ReadPoolFields): 'ranges' | 'end' | 'cidr' {
  if (ranges.length > 0) return 'ranges';
  return end === undefined ? 'cidr' : 'end';
}

/** Excluding addresses outside `start` to `end` is harmless; excluding an address outside the subnet is a typing error. */
function checkInsideSubnet({ cidr, fields, problems }: Subject, field: 'exclude' | 'dynamic'): void {
  for (const { index, range, text } of fields[field]) {
    if (cidrContains(cidr, range.first) && cidrContains(cidr, range.last)) continue;
    problems.add('outside-subnet', {
      path: [field, index],
      value: text,
      message: `${text} is outside ${formatIpv4Cidr(cidr)}`,
      remedy: 'remove it or widen the cidr',
    });
  }
}

/** The range must not be too large: there is one bit for each address, from the first to the last of all ranges. */
function checkDynamicSize(fields: ReadPoolFields, problems: PoolProblems): void {
  const merged = mergeRanges(fields.dynamic.map(({ range }) => range));
  const [first, last] = [merged[0], merged.at(-1)];
  if (first === undefined || last === undefined) return;
  const size = sizeOfRange({ first: first.first, last: last.last });
  if (size <= MAX_RANGE_SIZE) return;
  problems.add('range-too-large', {
    path: ['dynamic'],
    value: size,
    message: `the dynamic ranges reach over ${size} addresses`,
    remedy: `keep the first and the last at most ${MAX_RANGE_SIZE} addresses apart`,
  });
}

/** A client sends to a gateway on its own link; 0.0.0.0 means that the destination is on the link. Source: RFC 3442, "Local Subnet Routes". */
function checkGateways(subject: Subject): void {
  for (const { index, gateway } of subject.fields.gateways) {
    if (gateway !== UNSPECIFIED_ADDRESS) checkHostAddress(subject, ['options', 'staticRoutes', index, 'gateway'], gateway);
  }
}

function checkReservations(subject: Subject, serverAddress?: Ipv4Address): Map<MacAddress, Reservation> {
  const { fields, problems } = subject;
  const byMac = new Map<MacAddress, Reservation>();
  const ownerOf = new Map<Ipv4Address, MacAddress>();
  const excluded = mergeRanges(fields.exclude.map(({ range }) => range));
  for (const { index, ...reservation } of fields.reservations) {
    const { macAddress, address } = reservation;
    const path = ['reservations', index, 'address'];
    const text = formatIpv4Address(address);
    const inUseBy = usedByInfrastructure(address, { serverAddress, router: fields.options.router, excluded });
    if (!checkHostAddress(subject, path, address)) continue;
    if (inUseBy !== undefined) {
      problems.add('reservation-in-use', {
        path: path,
        value: text,
        message: `${text} ${inUseBy}`,
        remedy: 'reserve another address',
      });
    }
    const owner = ownerOf.get(address);
    if (owner !== undefined) {
      problems.add('address-reserved-twice', {
        path: path,
        value: text,
        message: `${text} is reserved for ${owner} already`,
        remedy: 'reserve another address',
      });
    }
    if (byMac.has(macAddress)) {
      problems.add('mac-reserved-twice', {
        path: ['reservations', index, 'macAddress'],
        value: macAddress,
        message: `${macAddress} has a reservation already`,
        remedy: 'keep one of the two',
      });
    }
    byMac.set(macAddress, reservation);
    ownerOf.set(address, macAddress);
  }
  return byMac;
}

interface Infrastructure {
  readonly serverAddress: Ipv4Address | undefined;
  readonly router: Ipv4Address | undefined;
  readonly excluded: readonly Ipv4Range[];
}

function usedByInfrastructure(address: Ipv4Address, { serverAddress, router, excluded }: Infrastructure): string | undefined {
  if (address === serverAddress) return 'is the DHCP server';
  if (address === router) return 'is the router';
  return rangesContain(excluded, address) ? 'is excluded' : undefined;
}

/** Sorted and merged. */
function excludedRanges({ cidr, fields }: Subject, serverAddress: Ipv4Address): Ipv4Range[] {
  const ranges = fields.exclude.map((entry) => entry.range);
  for (const address of [serverAddress, fields.options.router, networkAddressOf(cidr), broadcastAddressOf(cidr)]) {
    if (address !== undefined) ranges.push({ first: address, last: address });
  }
  return mergeRanges(ranges);
}

function dynamicRanges(fields: ReadPoolFields, excluded: readonly Ipv4Range[]): Ipv4Range[] {
  const reserved = fields.reservations.map(({ address }) => ({ first: address, last: address }));
  return subtractRanges(mergeRanges(fields.dynamic.map(({ range }) => range)), mergeRanges([...excluded, ...reserved]));
}
