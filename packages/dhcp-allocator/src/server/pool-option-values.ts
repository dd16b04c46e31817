import type { Ipv4Address } from '../address/ipv4-address.js';
import { broadcastAddressOf, maskOf } from '../address/ipv4-cidr.js';
import { encodeAddresses } from '../options/address-list.js';
import { encodeStaticRoutes } from '../options/classless-static-routes.js';
import { encodeDomainNames } from '../options/domain-search.js';
import { encodeText } from '../options/text.js';
import type { BootSettings, Pool, PoolOptions } from '../pool/pool.js';
import { toBytes } from '../wire/big-endian.js';
import { OptionCode } from '../wire/layout.js';

/**
 * The options that a pool has for every client, encoded, by code. Options that the pool does not set are absent, so that no reply carries an empty
 * option. They are in the order for a client that requests none: subnet mask before router, as RFC 2132 §3.3 demands.
 */
export function poolOptionValues(pool: Pool): Map<number, Uint8Array> {
  const { options } = pool;
  const values = new Map<number, Uint8Array>();
  const put = (code: number, value: Uint8Array | undefined): void => {
    if (value !== undefined && value.length > 0) values.set(code, value);
  };
  const broadcast = broadcastAddressOf(pool.cidr);
  put(OptionCode.subnetMask, toBytes(maskOf(pool.cidr.prefixLength), 4));
  put(OptionCode.classlessStaticRoutes, encodeStaticRoutes(routesOf(options)));
  put(OptionCode.routers, encodeAddresses(options.router === undefined ? [] : [options.router]));
  put(OptionCode.domainNameServers, encodeAddresses(options.dnsServers));
  put(OptionCode.domainName, options.domainName === undefined ? undefined : encodeText(options.domainName));
  put(OptionCode.domainSearch, encodeDomainNames(options.domainSearch));
  put(OptionCode.ntpServers, encodeAddresses(options.ntpServers));
  put(OptionCode.interfaceMtu, options.mtu === undefined ? undefined : toBytes(options.mtu, 2));
  const wait = options.ipv6OnlyWaitSeconds;
  put(OptionCode.ipv6OnlyPreferred, wait === undefined ? undefined : toBytes(wait, 4));
  put(OptionCode.broadcastAddress, broadcast === undefined ? undefined : toBytes(broadcast, 4));
  for (const [code, value] of options.byCode) put(code, value);
  return values;
}

/** A client that reads option 121 ignores option 3: so the default route is in both. Source: RFC 3442, "DHCP Client Behavior". */
function routesOf({ router, staticRoutes }: PoolOptions): PoolOptions['staticRoutes'] {
  const hasDefault = staticRoutes.some((route) => route.destination.prefixLength === 0);
  if (staticRoutes.length === 0 || router === undefined || hasDefault) return staticRoutes;
  return [...staticRoutes, { destination: { network: 0, prefixLength: 0 }, gateway: router }];
}

/** Where a client boots from: siaddr, file, options 66, 67 and 150. Empty if the pool does not specify it. */
export interface BootValues {
  readonly nextServer: Ipv4Address;
  readonly bootFile: Uint8Array;
  readonly options: ReadonlyMap<number, Uint8Array>;
}

/** Source: RFC 2132 §9.4, §9.5; RFC 5859 (150). */
export function bootValues(boot: BootSettings): BootValues {
  const options = new Map<number, Uint8Array>();
  const { nextServer, bootFile } = boot;
  if (nextServer !== undefined) {
    const octets = toBytes(nextServer, 4);
    options.set(OptionCode.tftpServerName, encodeText([...octets].join('.')));
    options.set(OptionCode.tftpServerAddresses, octets);
  }
  const file = encodeText(bootFile ?? '');
  if (file.length > 0) options.set(OptionCode.bootFileName, file);
  return { nextServer: nextServer ?? 0, bootFile: file, options };
}
