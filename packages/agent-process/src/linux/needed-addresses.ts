/**
 * Finds the addresses that an agent's pod needs itself: with one of them as a pool's server address on an interface, the pod
 * would connect to itself instead of the API server, and lose the leadership for all of its pools.
 */
import { lookup } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { formatIpv4Address, type Ipv4Address } from '@vmdhcp/dhcp-allocator';

export interface PodFacts {
  /** Addresses of the API server. */
  readonly apiServer: readonly string[];
  /** Addresses of the pod's own interfaces. */
  readonly own: readonly string[];
  /** From `/etc/resolv.conf`. */
  readonly resolvers: string;
  /** From `/proc/net/route`. */
  readonly routes: string;
  /** Interfaces with a pool: their routes and addresses belong to the agent. */
  readonly served: ReadonlySet<string>;
}

/** Says what the address belongs to; undefined if the pod does not need it. */
export function whoseAddress(address: Ipv4Address, facts: PodFacts): string | undefined {
  const text = formatIpv4Address(address);
  if (facts.apiServer.includes(text)) return 'the API server';
  if (facts.own.includes(text)) return "the agent's pod";
  if (gatewaysIn(facts).includes(text)) return "a gateway of the agent's pod";
  const resolvers = facts.resolvers.split('\n').map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1]);
  return resolvers.includes(text) ? "a name server of the agent's pod" : undefined;
}

/** The numbers of that file are hexadecimal, in the byte order of the machine. */
function gatewaysIn({ routes, served }: PodFacts): string[] {
  const fields = routes.split('\n').map((line) => line.trim().split(/\s+/));
  return fields
    .filter(
      ([name = '', , gateway = '']) => !served.has(name) && /^[\dA-F]{8}$/i.test(gateway) && Number.parseInt(gateway, 16) > 0,
    )
    .map(([, , gateway = '']) => formatIpv4Address(Buffer.from(gateway, 'hex').readUInt32LE() as Ipv4Address));
}

export interface NeededAddressesSettings {
  /** URL of the API server. */
  readonly server: string;
  /** Set if Kubernetes sets it. */
  readonly podAddress: string | undefined;
  readonly served: ReadonlySet<string>;
}

/** The addresses that the pod needs now. */
export class NeededAddresses {
  readonly #settings: NeededAddressesSettings;
  readonly #host: string;
  #apiServer: readonly string[];
  #facts: PodFacts;

  constructor(settings: NeededAddressesSettings) {
    this.#settings = settings;
    this.#host = new URL(settings.server).hostname.replace(/^\[|\]$/g, '');
    this.#apiServer = isIPv4(this.#host) ? [this.#host] : [];
    this.#facts = this.#read();
  }

  /** Determines the addresses again. What cannot be looked up stays as it was. */
  async refresh(): Promise<void> {
    if (!isIPv4(this.#host) && !isIPv6(this.#host)) {
      const found = await lookup(this.#host, { all: true, family: 4 }).catch(() => []);
      if (found.length > 0) this.#apiServer = found.map(({ address }) => address);
    }
    this.#facts = this.#read();
  }

  readonly whose = (address: Ipv4Address): string | undefined => whoseAddress(address, this.#facts);

  #read(): PodFacts {
    const { served, podAddress } = this.#settings;
    const others = Object.entries(networkInterfaces()).filter(([name]) => !served.has(name));
    const addresses = others.flatMap(([, entries = []]) => entries.map(({ address }) => address));
    return {
      apiServer: this.#apiServer,
      own: podAddress === undefined ? addresses : [podAddress, ...addresses],
      resolvers: readText('/etc/resolv.conf'),
      routes: readText('/proc/net/route'),
      served,
    };
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
