import { formatIpv4Address, validatePool } from '@vmdhcp/dhcp-allocator';
import { isRecord, readList, readText } from '@vmdhcp/kube-runtime';

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
  const defaults = defaultsOf(ipv4Config['cidr'], ipv4Config);
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

type Fields = Readonly<Record<string, unknown>>;

interface Defaults {
  readonly serverIP: string;
  readonly start: string;
  readonly end: string;
}

function defaultsOf(cidr: string, ipv4Config: Fields): Defaults | undefined {
  const [serverAddress, router] = [readText(ipv4Config, 'serverIP'), readText(ipv4Config, 'router')];
  const checked = validatePool({
    name: '',
    cidr,
    exclude: readList(ipv4Config, 'pool', 'exclude').filter((entry) => typeof entry === 'string'),
    reservations: reservationsOf(ipv4Config),
    ...(serverAddress && { serverAddress }),
    options: router === undefined ? {} : { router },
  });
  if (!checked.ok || checked.value.cidr.prefixLength > 30) return undefined;
  const { serverAddress: server, range } = checked.value;
  return {
    serverIP: formatIpv4Address(server),
    start: formatIpv4Address(range.first),
    end: formatIpv4Address(range.last),
  };
}

function reservationsOf(ipv4Config: Fields): { macAddress: string; address: string }[] {
  return readList(ipv4Config, 'reservations').flatMap((entry) => {
    const [macAddress, address] = [readText(entry, 'macAddress'), readText(entry, 'ipAddress')];
    return macAddress === undefined || address === undefined ? [] : [{ macAddress, address }];
  });
}

function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
