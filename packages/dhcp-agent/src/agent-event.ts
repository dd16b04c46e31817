/** Events of an agent: facts for the log and the metrics. The observer words them for people. */
import type { Ipv4Address, Lease, MacAddress } from '@vmdhcp/dhcp-allocator';
import type { Ipv6Address } from '@vmdhcp/dhcp-allocator/address';
import type { AgentLogSettings, ReportedRouter, RogueServer } from '@vmdhcp/ippool-api/agent';

/** A change of a lease; a plain renewal is not an event. */
export type LeaseEvent = 'bound' | 'changed' | 'released' | 'declined' | 'expired' | 'refused';

export type AgentEvent = LeadershipEvent | AddressEvent | InterfaceEvent | SilenceEvent | PoolEvent | ClientEvent | ProbeEvent;

type LeadershipEvent =
  /**
   * `afterMs`: milliseconds since this replica saw the Lease renewed or released; undefined if it saw neither. `isAgain`: no other replica became
   * leader after this one stepped down.
   */
  | { readonly kind: 'leader'; readonly afterMs?: number | undefined; readonly isAgain?: true }
  /** `isAgain`: this replica lost the leadership by stepping down. */
  | { readonly kind: 'leadership-lost'; readonly isAgain?: true }
  /** It cannot serve all pools, but another replica may. `isAgain`: it stepped down for the same troubles before, and no other replica became leader. */
  | { readonly kind: 'stepping-down'; readonly troubles: readonly string[]; readonly isAgain?: true }
  | { readonly kind: 'lease-unreachable'; readonly error: unknown }
  /** The agent is configured to be the only replica, but there is another one. */
  | { readonly kind: 'another-holder'; readonly holder: string }
  | { readonly kind: 'suspended-pools'; readonly pools: readonly string[] }
  /** The log settings in the Lease, for all agents of the group. Reported on every read of the Lease. */
  | { readonly kind: 'log-settings'; readonly settings: AgentLogSettings };

type AddressEvent =
  /** The process was frozen, or the kernel slow, while addresses were added: they were removed. */
  | { readonly kind: 'addresses-retracted'; readonly interfaceNames: readonly string[] }
  | { readonly kind: 'address-failed'; readonly interfaceName: string; readonly message: string }
  | { readonly kind: 'announcement-failed'; readonly interfaceName: string; readonly error: unknown };

type InterfaceEvent =
  | { readonly kind: 'interface-missing'; readonly interfaceName: string }
  /** The interface is back, or another one of the same name. */
  | { readonly kind: 'interface-back'; readonly interfaceName: string }
  | { readonly kind: 'socket-failed'; readonly interfaceName: string; readonly error: Error }
  | { readonly kind: 'frames-not-sent'; readonly interfaceName: string }
  | { readonly kind: 'replies-not-sent'; readonly interfaceName: string; readonly error: string; readonly count: number }
  | { readonly kind: 'interface-isolated'; readonly interfaceName: string }
  | { readonly kind: 'isolation-failed'; readonly interfaceName: string; readonly message: string }
  | { readonly kind: 'isolation-restored'; readonly interfaceName: string; readonly corrected: readonly string[] };

type SilenceEvent =
  /** No machine with a recorded address has got a reply or answered ARP for two minutes. */
  | { readonly kind: 'network-silent'; readonly interfaceName: string }
  | { readonly kind: 'network-reached'; readonly interfaceName: string };

type PoolEvent =
  | { readonly kind: 'pool'; readonly pool: string; readonly state: 'active' | 'paused' }
  | { readonly kind: 'pool'; readonly pool: string; readonly state: 'unserved'; readonly message: string }
  | { readonly kind: 'pool-unreadable'; readonly pool: string; readonly error: unknown }
  | { readonly kind: 'pool-field-ignored'; readonly pool: string; readonly problem: string }
  | { readonly kind: 'pool-log-annotation-ignored'; readonly pool: string; readonly problem: string }
  /** The log settings in the pool's annotations. Reported at every change of the pool. */
  | { readonly kind: 'pool-log-settings'; readonly pool: string; readonly settings: AgentLogSettings }
  | { readonly kind: 'owners-unreadable'; readonly error: unknown };

type ClientEvent =
  | {
      readonly kind: 'lease';
      readonly event: LeaseEvent;
      readonly lease: Pick<Lease, 'poolName' | 'macAddress'> & Partial<Lease>;
      /** Anything else worth logging; never text from the wire. */
      readonly details?: Readonly<Record<string, unknown>>;
    }
  /** An unknown client has renewed its first lease. */
  | { readonly kind: 'client-proven'; readonly pool: string; readonly macAddress: MacAddress }
  /** A standby answered a client that retransmits. */
  | { readonly kind: 'standby-answer'; readonly pool: string; readonly macAddress: MacAddress }
  | { readonly kind: 'burst'; readonly durationNs: number }
  | { readonly kind: 'packet-failed'; readonly interfaceName: string; readonly error: unknown };

type ProbeEvent =
  | {
      readonly kind: 'address-conflict';
      readonly pool: string;
      readonly macAddress: MacAddress;
      readonly address: Ipv4Address;
      readonly usedBy: MacAddress;
    }
  /** A host uses an address that is not assigned to it. `assignedTo`: the client that has the address. */
  | {
      readonly kind: 'observed-use';
      readonly pool: string;
      readonly address: Ipv4Address;
      readonly usedBy: MacAddress;
      readonly assignedTo: MacAddress | undefined;
    }
  /** A client found out that another host uses its IPv6 address. */
  | {
      readonly kind: 'ipv6-address-declined';
      readonly pool: string;
      readonly macAddress: MacAddress;
      readonly address: Ipv6Address;
    }
  | { readonly kind: 'addresses-not-heard'; readonly interfaceName: string; readonly error: unknown }
  | { readonly kind: 'address-not-probed'; readonly interfaceName: string; readonly error: unknown }
  /** A host answers for addresses that no client has, so its answers are ignored. */
  | {
      readonly kind: 'answers-for-every-address';
      readonly interfaceName: string;
      readonly macAddress: MacAddress;
      readonly addresses: readonly Ipv4Address[];
    }
  | { readonly kind: 'rogue-servers'; readonly interfaceName: string; readonly servers: readonly RogueServer[] }
  | { readonly kind: 'no-rogue-servers'; readonly interfaceName: string }
  /** The IPv6 routers of the network: found when this agent began to answer, or changed since. */
  | { readonly kind: 'ipv6-routers'; readonly interfaceName: string; readonly routers: readonly ReportedRouter[] }
  | { readonly kind: 'servers-not-probed'; readonly interfaceName: string; readonly error: unknown };
