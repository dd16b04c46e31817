import { type Ipv4Address, parseIpv4Address } from '../address/ipv4-address.js';
import { formatIpv4Cidr, type Ipv4Cidr, parseIpv4Cidr } from '../address/ipv4-cidr.js';
import { type Ipv4Range, parseIpv4Range } from '../address/ipv4-range.js';
import { isGroupMacAddress, parseMacAddress } from '../address/mac-address.js';
import type { StaticRoute } from '../options/classless-static-routes.js';
import { optionNameOf } from '../options/option-registry.js';
import { describeWrittenOption, isWritableOption, parseWrittenOption } from '../options/written-option.js';
import { isHostName } from './host-name.js';
import { INFINITE_LEASE_TIME_SECONDS, MAX_RELAYS, type PoolOptions, type Reservation } from './pool.js';
import type { BootDefinition, OptionDefinition, PoolDefinition, PoolOptionsDefinition } from './pool-definition.js';
import type { PoolProblemReason, PoolProblems } from './pool-problems.js';

/** A range, with its text in the list. */
export interface WrittenRange {
  readonly index: number;
  readonly text: string;
  readonly range: Ipv4Range;
}

/** Every field that could be read; a field that could not is absent and has a problem. */
export interface ReadPoolFields {
  readonly cidr: Ipv4Cidr | undefined;
  readonly serverAddress: Ipv4Address | undefined;
  readonly start: Ipv4Address | undefined;
  readonly end: Ipv4Address | undefined;
  readonly ranges: readonly WrittenRange[];
  readonly exclude: readonly WrittenRange[];
  readonly reservations: readonly (Reservation & { readonly index: number })[];
  readonly dynamic: readonly WrittenRange[];
  readonly relays: readonly Ipv4Cidr[];
  readonly options: PoolOptions;
  /** The gateways of static routes, including those whose destination could not be read. */
  readonly gateways: readonly { readonly index: number; readonly gateway: Ipv4Address }[];
}

type Path = readonly (string | number)[];

/** Clients wait at least that long. Source: RFC 8925 §3.4, MIN_V6ONLY_WAIT. */
const LEAST_IPV6_ONLY_WAIT_SECONDS = 300;

/** An option of 255 octets holds 63 addresses; a longer list would be split, and few clients join the pieces. */
const MAX_ADDRESSES_IN_AN_OPTION = 63;

/** A longer one would be split, and few clients join the pieces. */
const MOST_OCTETS_OF_AN_OPTION = 255;

export function readPoolFields(definition: PoolDefinition, problems: PoolProblems): ReadPoolFields {
  const reader = new FieldReader(problems);
  const { leaseTimeSeconds, options = {} } = definition;
  if (leaseTimeSeconds !== undefined) {
    reader.wholeNumber(['leaseTimeSeconds'], leaseTimeSeconds, { least: 1, most: INFINITE_LEASE_TIME_SECONDS });
  }
  const gateways: { index: number; gateway: Ipv4Address }[] = [];
  return {
    cidr: reader.cidr(['cidr'], definition.cidr),
    serverAddress: reader.optionalAddress(['serverAddress'], definition.serverAddress),
    start: reader.optionalAddress(['start'], definition.start),
    end: reader.optionalAddress(['end'], definition.end),
    ranges: readRanges(definition, 'ranges', reader),
    exclude: readRanges(definition, 'exclude', reader),
    reservations: readReservations(definition, reader),
    dynamic: readRanges(definition, 'dynamic', reader),
    relays: reader.relays(['relays'], definition.relays),
    options: { ...readOptions(options, reader), staticRoutes: readStaticRoutes(options, reader, gateways) },
    gateways,
  };
}

type RangeField = 'ranges' | 'exclude' | 'dynamic';

function readRanges(definition: PoolDefinition, field: RangeField, reader: FieldReader): WrittenRange[] {
  return (definition[field] ?? []).flatMap((text, index) => {
    const range = reader.range([field, index], text);
    return range === undefined ? [] : [{ index, text, range }];
  });
}

function readReservations(definition: PoolDefinition, reader: FieldReader): (Reservation & { index: number })[] {
  return (definition.reservations ?? []).flatMap((entry, index) => {
    const macAddress = reader.macAddress(['reservations', index, 'macAddress'], entry.macAddress);
    const address = reader.address(['reservations', index, 'address'], entry.address);
    const hostname = reader.optionalHostName(['reservations', index, 'hostname'], entry.hostname);
    if (macAddress === undefined || address === undefined) return [];
    return [{ index, macAddress, address, ...(hostname !== undefined && { hostname }) }];
  });
}

function readOptions(options: PoolOptionsDefinition, reader: FieldReader): Omit<PoolOptions, 'staticRoutes'> {
  const path = (...rest: Path): Path => ['options', ...rest];
  const router = reader.optionalAddress(path('router'), options.router);
  const domainName = reader.optionalHostName(path('domainName'), options.domainName);
  const number = (field: 'mtu' | 'ipv6OnlyWaitSeconds', bounds: { readonly least: number; readonly most: number }) => {
    const value = options[field];
    return value === undefined ? undefined : reader.wholeNumber(path(field), value, bounds);
  };
  const mtu = number('mtu', { least: 68, most: 65_535 });
  const ipv6OnlyWaitSeconds = number('ipv6OnlyWaitSeconds', { least: LEAST_IPV6_ONLY_WAIT_SECONDS, most: 0xffffffff });
  return {
    ...(router !== undefined && { router }),
    dnsServers: reader.addresses(path('dnsServers'), options.dnsServers),
    ...(domainName !== undefined && { domainName }),
    domainSearch: (options.domainSearch ?? []).flatMap((text, index) => {
      return reader.optionalHostName(path('domainSearch', index), text) ?? [];
    }),
    ntpServers: reader.addresses(path('ntpServers'), options.ntpServers),
    ...(mtu !== undefined && { mtu }),
    ...(ipv6OnlyWaitSeconds !== undefined && { ipv6OnlyWaitSeconds }),
    ...readBoot(options, path(), reader),
    bootByArchitecture: readBootByArchitecture(options.bootByArchitecture ?? [], reader),
    byCode: readOptionsByCode(options.byCode ?? [], reader),
  };
}

function readStaticRoutes(
  options: PoolOptionsDefinition,
  reader: FieldReader,
  gateways: { index: number; gateway: Ipv4Address }[],
): StaticRoute[] {
  return (options.staticRoutes ?? []).flatMap((route, index) => {
    const destination = reader.network(['options', 'staticRoutes', index, 'destination'], route.destination);
    const gateway = reader.address(['options', 'staticRoutes', index, 'gateway'], route.gateway);
    if (gateway !== undefined) gateways.push({ index, gateway });
    return destination === undefined || gateway === undefined ? [] : [{ destination, gateway }];
  });
}

function readBootByArchitecture(entries: readonly BootDefinition[], reader: FieldReader): PoolOptions['bootByArchitecture'] {
  return new Map(
    entries.map((entry, index) => {
      const path = ['options', 'bootByArchitecture', index];
      reader.wholeNumber([...path, 'architecture'], entry.architecture, { least: 0, most: 65_535 });
      if (entries.findIndex(({ architecture }) => architecture === entry.architecture) !== index)
        reader.refuseSecond('architecture-twice', [...path, 'architecture'], entry.architecture);
      return [entry.architecture, readBoot(entry, path, reader)] as const;
    }),
  );
}

function readOptionsByCode(entries: readonly OptionDefinition[], reader: FieldReader): PoolOptions['byCode'] {
  const values = new Map<number, Uint8Array>();
  for (const [index, { code, value }] of entries.entries()) {
    const path = ['options', 'byCode', index];
    if (reader.wholeNumber([...path, 'code'], code, { least: 1, most: 254 }) === undefined) continue;
    if (values.has(code)) reader.refuseSecond('option-twice', [...path, 'code'], code);
    const octets = reader.optionValue(path, code, value);
    if (octets !== undefined) values.set(code, octets);
  }
  return values;
}

function readBoot(boot: Pick<BootDefinition, 'nextServer' | 'bootFile'>, path: Path, reader: FieldReader) {
  const nextServer = reader.optionalAddress([...path, 'nextServer'], boot.nextServer);
  const bootFile = reader.optionalText([...path, 'bootFile'], boot.bootFile);
  return { ...(nextServer !== undefined && { nextServer }), ...(bootFile !== undefined && { bootFile }) };
}

type Wording = readonly [fault: string, remedy: string];

class FieldReader {
  readonly #problems: PoolProblems;

  constructor(problems: PoolProblems) {
    this.#problems = problems;
  }

  cidr(path: Path, text: string): Ipv4Cidr | undefined {
    return (
      parseIpv4Cidr(text) ??
      this.#refuse('not-a-cidr', { path, value: text }, [
        'is not an IPv4 subnet',
        'write address/prefix length, as in 192.168.48.0/24',
      ])
    );
  }

  /** A subnet whose text has no host bits: with host bits it is a typing error, because the subnet could be another one. */
  network(path: Path, text: string): Ipv4Cidr | undefined {
    const cidr = this.cidr(path, text);
    if (cidr === undefined || parseIpv4Address(text.slice(0, text.indexOf('/'))) === cidr.network) return cidr;
    return this.#refuse('host-bits-set', { path, value: text }, [
      'is a host address with a prefix length, not a subnet',
      `write ${formatIpv4Cidr(cidr)}, or the address with /32 for one host`,
    ]);
  }

  address(path: Path, text: string): Ipv4Address | undefined {
    return (
      parseIpv4Address(text) ??
      this.#refuse('not-an-address', { path, value: text }, [
        'is not an IPv4 address',
        'write four numbers of 0 to 255, as in 192.168.48.10',
      ])
    );
  }

  optionalAddress(path: Path, text: string | undefined): Ipv4Address | undefined {
    return text === undefined ? undefined : this.address(path, text);
  }

  addresses(path: Path, texts: readonly string[] = []): Ipv4Address[] {
    if (texts.length > MAX_ADDRESSES_IN_AN_OPTION) {
      this.#refuse('too-many', { path, value: texts.length }, [
        'addresses are too many',
        `list at most ${MAX_ADDRESSES_IN_AN_OPTION}`,
      ]);
    }
    return texts.flatMap((text, index) => this.address([...path, index], text) ?? []);
  }

  /** An address is a subnet of one. */
  relays(path: Path, texts: readonly string[] = []): Ipv4Cidr[] {
    if (texts.length > MAX_RELAYS) {
      this.#refuse('too-many', { path, value: texts.length }, ['relays are too many', `list at most ${MAX_RELAYS}, or subnets`]);
    }
    return texts.flatMap((text, index) => {
      const cidr = parseIpv4Cidr(text) ?? parseIpv4Cidr(`${text}/32`);
      if (cidr !== undefined) return [cidr];
      const wording: Wording = ['is neither an IPv4 address nor a subnet', 'write 192.0.2.1 or 192.0.2.0/24'];
      return this.#refuse('not-a-cidr', { path: [...path, index], value: text }, wording) ?? [];
    });
  }

  range(path: Path, text: string): Ipv4Range | undefined {
    return (
      parseIpv4Range(text) ??
      this.#refuse('not-a-range', { path, value: text }, [
        'is neither an address nor a range',
        'write 192.168.48.5 or 192.168.48.10-192.168.48.19',
      ])
    );
  }

  macAddress(path: Path, text: string): string | undefined {
    const mac = parseMacAddress(text);
    if (mac !== undefined && !isGroupMacAddress(mac)) return mac;
    const fault = mac === undefined ? 'is not a MAC address' : 'is a multicast MAC address, which no client has';
    return this.#refuse('not-a-mac-address', { path, value: text }, [
      fault,
      'write six hexadecimal octets, as in 02:00:5e:10:00:01',
    ]);
  }

  optionalHostName(path: Path, text: string | undefined): string | undefined {
    if (text === undefined || isHostName(text)) return text;
    return this.#refuse('not-a-host-name', { path, value: text }, [
      'is not a domain name',
      'write letters, digits, hyphens and dots, as in lab.example.org',
    ]);
  }

  /** The file field of a message holds 127 octets and a NUL. */
  optionalText(path: Path, text: string | undefined): string | undefined {
    if (text === undefined || /^[\x21-\x7e]{1,127}$/.test(text)) return text;
    return this.#refuse('not-text', { path, value: text }, [
      'is not a file name that a boot loader can read',
      'write 1 to 127 printable ASCII characters',
    ]);
  }

  wholeNumber(path: Path, value: number, bounds: { readonly least: number; readonly most: number }): number | undefined {
    if (Number.isInteger(value) && value >= bounds.least && value <= bounds.most) return value;
    return this.#refuse('number-out-of-bounds', { path, value: value }, [
      'is out of bounds',
      `write a whole number from ${bounds.least} to ${bounds.most}`,
    ]);
  }

  optionValue(path: Path, code: number, text: string): Uint8Array | undefined {
    if (!isWritableOption(code)) {
      const name = optionNameOf(code);
      return this.#refuse('option-not-allowed', { path: [...path, 'code'], value: code }, [
        `(${name}) is set by the server, by clients or by another field of the pool`,
        'remove it here',
      ]);
    }
    const octets = parseWrittenOption(code, text);
    if (octets !== undefined && octets.length <= MOST_OCTETS_OF_AN_OPTION) return octets;
    const fault = octets === undefined ? `is not a value of option ${code}` : 'is too long';
    const remedy = octets === undefined ? describeWrittenOption(code) : `at most ${MOST_OCTETS_OF_AN_OPTION} octets`;
    return this.#refuse('not-an-option-value', { path: [...path, 'value'], value: text }, [fault, `write ${remedy}`]);
  }

  refuseSecond(reason: 'architecture-twice' | 'option-twice', path: Path, value: number): void {
    const fault = reason === 'option-twice' ? 'has a value already' : 'has boot settings already';
    this.#refuse(reason, { path, value }, [fault, 'keep one of the two']);
  }

  #refuse(reason: PoolProblemReason, place: { readonly path: Path; readonly value: unknown }, wording: Wording): undefined {
    const [fault, remedy] = wording;
    const { path, value } = place;
    this.#problems.add(reason, { path, value, message: `${JSON.stringify(value)} ${fault}`, remedy });
    return undefined;
  }
}
