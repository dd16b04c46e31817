/**
 * Every option of RFC 2132 and those that came later and matter here: code, name and the shape of its value. The names are
 * the RFCs' own, in camel case. Codes that are not here are carried as octets.
 */
import * as kind from './option-kinds.js';

interface AnyKind {
  readonly encode: (value: never) => Uint8Array;
  readonly decode: (bytes: Uint8Array) => unknown;
}

/** By name. Sources: RFC 2132 §3-9 where nothing else is given. */
export const OPTIONS = {
  subnetMask: { code: 1, kind: kind.address },
  timeOffset: { code: 2, kind: kind.int32 },
  routers: { code: 3, kind: kind.addresses },
  timeServers: { code: 4, kind: kind.addresses },
  nameServers: { code: 5, kind: kind.addresses },
  domainNameServers: { code: 6, kind: kind.addresses },
  logServers: { code: 7, kind: kind.addresses },
  cookieServers: { code: 8, kind: kind.addresses },
  lprServers: { code: 9, kind: kind.addresses },
  impressServers: { code: 10, kind: kind.addresses },
  resourceLocationServers: { code: 11, kind: kind.addresses },
  hostName: { code: 12, kind: kind.text },
  /** 512-octet blocks. */
  bootFileSize: { code: 13, kind: kind.uint16 },
  meritDumpFile: { code: 14, kind: kind.text },
  domainName: { code: 15, kind: kind.text },
  swapServer: { code: 16, kind: kind.address },
  rootPath: { code: 17, kind: kind.text },
  extensionsPath: { code: 18, kind: kind.text },
  ipForwarding: { code: 19, kind: kind.flag },
  nonLocalSourceRouting: { code: 20, kind: kind.flag },
  policyFilter: { code: 21, kind: kind.addressPairs },
  maximumDatagramReassemblySize: { code: 22, kind: kind.uint16 },
  defaultIpTimeToLive: { code: 23, kind: kind.uint8 },
  /** Seconds. */
  pathMtuAgingTimeout: { code: 24, kind: kind.uint32 },
  pathMtuPlateauTable: { code: 25, kind: kind.uint16List },
  /** Octets, 68 or more. */
  interfaceMtu: { code: 26, kind: kind.uint16 },
  allSubnetsLocal: { code: 27, kind: kind.flag },
  broadcastAddress: { code: 28, kind: kind.address },
  performMaskDiscovery: { code: 29, kind: kind.flag },
  maskSupplier: { code: 30, kind: kind.flag },
  performRouterDiscovery: { code: 31, kind: kind.flag },
  routerSolicitationAddress: { code: 32, kind: kind.address },
  staticRoutes: { code: 33, kind: kind.addressPairs },
  trailerEncapsulation: { code: 34, kind: kind.flag },
  /** Seconds. */
  arpCacheTimeout: { code: 35, kind: kind.uint32 },
  ethernetEncapsulation: { code: 36, kind: kind.flag },
  tcpDefaultTimeToLive: { code: 37, kind: kind.uint8 },
  /** Seconds. */
  tcpKeepaliveInterval: { code: 38, kind: kind.uint32 },
  tcpKeepaliveGarbage: { code: 39, kind: kind.flag },
  nisDomain: { code: 40, kind: kind.text },
  nisServers: { code: 41, kind: kind.addresses },
  ntpServers: { code: 42, kind: kind.addresses },
  /** The vendor defines the meaning: octets. */
  vendorSpecific: { code: 43, kind: kind.octets },
  netbiosNameServers: { code: 44, kind: kind.addresses },
  netbiosDatagramDistributionServers: { code: 45, kind: kind.addresses },
  netbiosNodeType: { code: 46, kind: kind.uint8 },
  netbiosScope: { code: 47, kind: kind.text },
  xWindowFontServers: { code: 48, kind: kind.addresses },
  xWindowDisplayManagers: { code: 49, kind: kind.addresses },
  requestedAddress: { code: 50, kind: kind.address },
  /** Seconds; 4294967295 for an infinite lease. */
  leaseTime: { code: 51, kind: kind.uint32 },
  /** 1 file, 2 sname, 3 both. */
  overload: { code: 52, kind: kind.uint8 },
  messageType: { code: 53, kind: kind.uint8 },
  serverIdentifier: { code: 54, kind: kind.address },
  parameterRequestList: { code: 55, kind: kind.codes },
  message: { code: 56, kind: kind.text },
  /** Octets with IP and UDP header, 576 or more. */
  maximumMessageSize: { code: 57, kind: kind.uint16 },
  /** Seconds: T1. */
  renewalTime: { code: 58, kind: kind.uint32 },
  /** Seconds: T2. */
  rebindingTime: { code: 59, kind: kind.uint32 },
  vendorClass: { code: 60, kind: kind.text },
  /** Opaque. Sources: RFC 2132 §9.14, RFC 4361 §6.1, RFC 6842 §3. */
  clientIdentifier: { code: 61, kind: kind.octets },
  nisPlusDomain: { code: 64, kind: kind.text },
  nisPlusServers: { code: 65, kind: kind.addresses },
  tftpServerName: { code: 66, kind: kind.text },
  bootFileName: { code: 67, kind: kind.text },
  mobileIpHomeAgents: { code: 68, kind: kind.addresses },
  smtpServers: { code: 69, kind: kind.addresses },
  pop3Servers: { code: 70, kind: kind.addresses },
  nntpServers: { code: 71, kind: kind.addresses },
  wwwServers: { code: 72, kind: kind.addresses },
  fingerServers: { code: 73, kind: kind.addresses },
  ircServers: { code: 74, kind: kind.addresses },
  streetTalkServers: { code: 75, kind: kind.addresses },
  streetTalkDirectoryAssistanceServers: { code: 76, kind: kind.addresses },
  /** Source: RFC 3004 §4. */
  userClass: { code: 77, kind: kind.octets },
  /** Source: RFC 4039 §4. */
  rapidCommit: { code: 80, kind: kind.presence },
  /** Source: RFC 4702 §2. */
  clientFqdn: { code: 81, kind: kind.octets },
  /** Source: RFC 3046 §2.0. */
  relayAgentInformation: { code: 82, kind: kind.subOptions },
  /** Processor architecture types, the client's first choice first. Source: RFC 4578 §2.1. */
  clientArchitecture: { code: 93, kind: kind.uint16List },
  /** Type, major and minor. Source: RFC 4578 §2.2. */
  clientNetworkInterface: { code: 94, kind: kind.octets },
  /** Source: RFC 4578 §2.3. */
  clientMachineIdentifier: { code: 97, kind: kind.octets },
  /** Seconds a client goes without IPv4. Source: RFC 8925 §3.1. */
  ipv6OnlyPreferred: { code: 108, kind: kind.uint32 },
  /** A URI. Source: RFC 8910 §2.1. */
  captivePortal: { code: 114, kind: kind.text },
  /** Source: RFC 2563 §2. */
  autoConfigure: { code: 116, kind: kind.uint8 },
  /** An address in the client's subnet. Source: RFC 3011 §2. */
  subnetSelection: { code: 118, kind: kind.address },
  /** Source: RFC 3397 §2. */
  domainSearch: { code: 119, kind: kind.domainNames },
  /** Source: RFC 3442. */
  classlessStaticRoutes: { code: 121, kind: kind.staticRoutes },
  /** Source: RFC 3925 §3. */
  vendorIdentifyingClass: { code: 124, kind: kind.vendorInformation },
  /** Source: RFC 3925 §4. */
  vendorIdentifyingSpecific: { code: 125, kind: kind.vendorInformation },
  /** Source: RFC 5859 §3. */
  tftpServerAddresses: { code: 150, kind: kind.addresses },
} as const satisfies Record<string, { readonly code: number; readonly kind: AnyKind }>;

/** The name of an option that `decodeOption` and `encodeOption` know. */
export type OptionName = keyof typeof OPTIONS;

/** The value of an option of that name. */
export type OptionValue<Name extends OptionName> =
  (typeof OPTIONS)[Name]['kind'] extends kind.OptionKind<infer Value> ? Value : never;

const NAMES: ReadonlyMap<number, OptionName> = new Map(
  Object.entries(OPTIONS).map(([name, { code }]) => [code, name as OptionName]),
);

/** The name of an option, or undefined for a code that is not known here. */
export function optionNameOf(code: number): OptionName | undefined {
  return NAMES.get(code);
}

/**
 * An option's octets for a value.
 * @param value - in range for the option; excess bits are cut off, as everywhere in `wire/`.
 */
export function encodeOption<Name extends OptionName>(
  name: Name,
  value: OptionValue<Name>,
): readonly [code: number, bytes: Uint8Array] {
  return [OPTIONS[name].code, kindOf(name).encode(value)];
}

/** The value that an option's octets hold, or undefined if they are not of its shape. Never throws. */
export function decodeOption<Name extends OptionName>(name: Name, bytes: Uint8Array): OptionValue<Name> | undefined {
  return kindOf(name).decode(bytes);
}

/** TypeScript cannot follow a name through the table by itself. */
function kindOf<Name extends OptionName>(name: Name): kind.OptionKind<OptionValue<Name>> {
  const { kind: shape }: { readonly kind: AnyKind } = OPTIONS[name];
  return shape as kind.OptionKind<OptionValue<Name>>;
}
