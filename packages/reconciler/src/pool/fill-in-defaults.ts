import { formatIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';

/**
 * An IPPool as a person writes it, with what may be left out filled in: `serverIP`, `pool.start` and `pool.end`, absent or
 * empty; an empty `router` is none. Everything else, and any other kind, is returned as it is; validation reports what cannot be filled in.
 *
 * The same defaults that upstream's webhook sets: the first and the last host address of the subnet, and for the server the
 * first one that is neither the router nor excluded.
 */
export function fillInDefaults(value: unknown): unknown {
  if (!isRecord(value) || value['kind'] !== 'IPPool' || !isRecord(value['spec'])) return value;
  const { ipv4Config } = value['spec'];
  if (!isRecord(ipv4Config) || typeof ipv4Config['cidr'] !== 'string') return value;
  const pool = isRecord(ipv4Config['pool']) ? ipv4Config['pool'] : {};
  const { router, ...withoutRouter } = ipv4Config;
  if (router === '') return fillInDefaults({ ...value, spec: { ...value['spec'], ipv4Config: withoutRouter } });
  if (![ipv4Config['serverIP'], pool['start'], pool['end']].some(isLeftOut)) return value;
  const defaults = defaultsOf(ipv4Config['cidr'], ipv4Config, pool);
  if (defaults === undefined) return value;
  return { ...value, spec: { ...value['spec'], ipv4Config: filledIn(ipv4Config, pool, defaults) } };
}

function filledIn(ipv4Config: Fields, pool: Fields, { serverIP, start, end }: Defaults): Fields {
  return {
    ...ipv4Config,
    ...(isLeftOut(ipv4Config['serverIP']) && { serverIP }),
    pool: { ...pool, ...(isLeftOut(pool['start']) && { start }), ...(isLeftOut(pool['end']) && { end }) },
  };
}

type Fields = Record<string, unknown>;

interface Defaults {
  readonly serverIP: string;
  readonly start: string;
  readonly end: string;
}

function defaultsOf(cidr: string, { router, serverIP, reservations }: Fields, { exclude }: Fields): Defaults | undefined {
  const checked = validatePool({
    name: '',
    cidr,
    exclude: texts(exclude),
    reservations: reservationsOf(reservations),
    ...(typeof serverIP === 'string' && serverIP !== '' && { serverAddress: serverIP }),
    options: typeof router === 'string' && router !== '' ? { router } : {},
  });
  if (!checked.ok || checked.value.cidr.prefixLength > 30) return undefined;
  const { serverAddress, range } = checked.value;
  return {
    serverIP: formatIpv4Address(serverAddress),
    start: formatIpv4Address(range.first),
    end: formatIpv4Address(range.last),
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
}

function reservationsOf(value: unknown): { macAddress: string; address: string }[] {
  const entries: unknown[] = Array.isArray(value) ? value : [];
  return entries.flatMap((entry) => {
    if (!isRecord(entry)) return [];
    const { macAddress, ipAddress } = entry;
    return typeof macAddress === 'string' && typeof ipAddress === 'string' ? [{ macAddress, address: ipAddress }] : [];
  });
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
