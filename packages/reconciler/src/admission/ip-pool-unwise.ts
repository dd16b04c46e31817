/** Finds settings of an IPPool that are legal, but probably unintended. */
import {
  formatIpv4Cidr,
  formatIpv4Range,
  intersectRanges,
  type Pool,
  parseIpv4Address,
  parseIpv4Range,
  rangeContains,
  sizeOfRange,
} from '@vmdhcp/dhcp-allocator';
import { readPoolLogSettings } from '@vmdhcp/ippool-api';
import { type KubernetesObject, readField, readList, readText, readTexts } from '@vmdhcp/kube-runtime';
import { describeRanges } from '../pool/describe-room.js';
import { findLeaseTimeProblem } from '../pool/find-lease-time-problem.js';
import type { AdmissionProblem } from './admission-review.js';

const CONFIG = ['spec', 'ipv4Config'];

/** @param pool - undefined if it has problems of its own. */
export function findUnwise(object: KubernetesObject, pool: Pool | undefined): AdmissionProblem[] {
  const config = readField(object.spec, 'ipv4Config');
  const leaseTime = readField(config, 'leaseTime');
  const impossible = typeof leaseTime === 'number' ? findLeaseTimeProblem({ leaseTime }) : undefined;
  return [
    ...(impossible === undefined ? [] : [impossible]),
    ...findInAnnotations(object),
    ...(pool === undefined ? [] : findInSettings(pool, config)),
  ];
}

function findInAnnotations({ metadata }: KubernetesObject): AdmissionProblem[] {
  return readPoolLogSettings(readTexts(metadata, 'annotations')).problems.map(({ key, value, message, remedy }) => ({
    reason: 'log-annotation-unreadable',
    path: ['metadata', 'annotations', key],
    value,
    message,
    remedy,
  }));
}

function findInSettings(pool: Pool, config: unknown): AdmissionProblem[] {
  return [...findHostBits(pool, readText(config, 'cidr') ?? ''), ...findInExclusions(pool, config), ...findNothingLeft(pool)];
}

function findHostBits({ cidr }: Pool, text: string): AdmissionProblem[] {
  const [address = ''] = text.split('/', 1);
  if (parseIpv4Address(address) === cidr.network) return [];
  const message = `${text} is the address of a host with a prefix length, and counts as ${formatIpv4Cidr(cidr)}`;
  const about = { reason: 'host-bits-in-cidr', path: [...CONFIG, 'cidr'], value: text } as const;
  return [{ ...about, message, remedy: `write ${formatIpv4Cidr(cidr)}` }];
}

function findInExclusions({ ranges }: Pool, config: unknown): AdmissionProblem[] {
  const exclusions = readList(config, 'pool', 'exclude').flatMap((text, index) => {
    const excluded = typeof text === 'string' ? parseIpv4Range(text) : undefined;
    return excluded === undefined ? [] : [{ index, text, excluded }];
  });
  const widest = exclusions.toSorted((one, other) => one.excluded.first - other.excluded.first || byIndexOfWider(one, other));
  const found: AdmissionProblem[] = [];
  let around: (typeof widest)[number] | undefined;
  for (const one of widest) {
    const about = { path: [...CONFIG, 'pool', 'exclude', one.index], value: one.text };
    if (around !== undefined && rangeContains(around.excluded, one.excluded.last)) {
      const message = `${one.text} is excluded by ${around.text} already`;
      found.push({ reason: 'exclusion-twice', ...about, message, remedy: 'remove one of the two' });
    } else {
      around = one;
    }
    if (ranges.some((range) => intersectRanges(range, one.excluded) !== undefined)) continue;
    const message = `${one.text} is outside the range of the pool (${describeRanges(ranges)}), and excludes nothing`;
    found.push({ reason: 'exclusion-useless', ...about, message, remedy: 'remove it, or correct it' });
  }
  return found;
}

interface Exclusion {
  readonly index: number;
  readonly excluded: { readonly first: number; readonly last: number };
}

function byIndexOfWider(one: Exclusion, other: Exclusion): number {
  return other.excluded.last - one.excluded.last || one.index - other.index;
}

function findNothingLeft({ range, unavailable, reservations }: Pool): AdmissionProblem[] {
  const left = unavailable.reduce((count, one) => count - sizeOfRange(one), sizeOfRange(range));
  if (left > 0 || reservations.size > 0) return [];
  const value = formatIpv4Range(range);
  const message = `no address of ${value} can be leased: each is excluded, or the address of the server or the router`;
  const remedy = 'raise end, lower start, or exclude less';
  return [{ reason: 'no-address-to-lease', path: [...CONFIG, 'pool'], value, message, remedy }];
}
