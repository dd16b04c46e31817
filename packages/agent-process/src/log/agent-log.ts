/** The log of an agent: one line for each event of the agent, in words for a person, with a limit for each kind of event. */
import { type AgentEvent, type AgentObserver, RateBudget } from '@vmdhcp/dhcp-agent/packet-path';
import { formatIpv4Address } from '@vmdhcp/dhcp-allocator';
import { formatIpv6Address } from '@vmdhcp/dhcp-allocator/address';
import { errorForLog } from '@vmdhcp/kube-runtime/node';
import type { Logger } from '@vmdhcp/service-process';
import type { LeaseEventLog } from './lease-event-log.js';
import type { PacketLog } from './packet-log.js';

type Kind = AgentEvent['kind'];

interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts?: Readonly<Record<string, unknown>>;
}

interface AgentLogPorts {
  readonly logger: Logger;
  /** Default: lease events are not logged. */
  readonly leaseEvents?: LeaseEventLog;
  readonly packetLog?: PacketLog;
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: () => number;
  /** Counts events; called for every event, including those that are not logged. */
  readonly onEvent?: (event: AgentEvent) => void;
}

/** Events that a network or an API server can cause many times a second. All others are rare. */
const BUDGETS: Partial<Record<Kind, ConstructorParameters<typeof RateBudget>[0]>> = {
  'lease-unreachable': { perSecond: 0.05, burst: 1 },
  'standby-answer': { perSecond: 1, burst: 5 },
  'replies-not-sent': { perSecond: 0.2, burst: 3 },
  'packet-failed': { perSecond: 1, burst: 5 },
  'address-not-probed': { perSecond: 0.1, burst: 2 },
  'ipv6-address-declined': { perSecond: 0.1, burst: 5 },
  'observed-use': { perSecond: 0.1, burst: 10 },
  'addresses-not-heard': { perSecond: 0.01, burst: 2 },
  'answers-for-every-address': { perSecond: 0.1, burst: 5 },
  'servers-not-probed': { perSecond: 0.01, burst: 1 },
};

export class AgentLog implements AgentObserver {
  readonly #settings: AgentLogPorts;
  readonly #budgets = new Map(Object.entries(BUDGETS).map(([kind, budget]) => [kind, new RateBudget(budget)]));

  constructor(settings: AgentLogPorts) {
    this.#settings = settings;
  }

  observe(event: AgentEvent): void {
    const { leaseEvents, packetLog, onEvent } = this.#settings;
    onEvent?.(event);
    if (event.kind === 'lease') leaseEvents?.note(event.event, event.lease, event.details);
    else if (event.kind === 'log-settings') packetLog?.setGeneral(event.settings);
    else if (event.kind === 'pool-log-settings') packetLog?.setPool(event.pool, event.settings);
    else if (event.kind !== 'burst' && event.kind !== 'client-proven') this.#log(event);
  }

  #log(event: LoggedEvent): void {
    const { logger, nowMs } = this.#settings;
    if (this.#budgets.get(event.kind)?.take(nowMs()) === false) return;
    const { level, message, facts = {} } = toLine(event);
    logger[level](facts, message);
  }
}

type LoggedEvent = Exclude<
  AgentEvent,
  {
    readonly kind: 'lease' | 'client-proven' | 'log-settings' | 'pool-log-settings' | 'burst';
  }
>;

type LineOf<Event extends LoggedEvent> = (event: Event) => Line;

const LINES: { readonly [K in LoggedEvent['kind']]: LineOf<Extract<LoggedEvent, { readonly kind: K }>> } = {
  leader: ({ isAgain }) => (isAgain ? debug('became leader again: no other replica did') : info('became leader')),
  'leadership-lost': ({ isAgain }) => (isAgain ? debug : warn)('leadership lost'),
  'stepping-down': ({ troubles, isAgain }) =>
    (isAgain ? debug : warn)('stepping down: this replica cannot serve all pools, another one may be able to', { troubles }),
  'lease-unreachable': ({ error }) => warn('the Lease cannot be read or written; trying again', { err: errorForLog(error) }),
  'another-holder': ({ holder }) =>
    warn(
      'another agent holds the Lease, so this one is not leader: with --no-leader-election there must be no other replica. It becomes leader when that one has ended, or has not renewed the Lease for its whole duration',
      { holder },
    ),
  'suspended-pools': ({ pools }) =>
    info(
      pools.length === 0
        ? 'no pool is suspended for this agent'
        : 'these pools are suspended: another group may serve them, this agent does not',
      { pools },
    ),
  'addresses-retracted': () =>
    warn(
      'the agent was stopped or too slow while it configured its server addresses: it has removed them; a leader adds them again',
    ),
  'address-failed': ({ message }) => error(`${message}; trying again several times a second`),
  'announcement-failed': ({ interfaceName, error: cause }) =>
    warn('the server address could not be announced; clients find it without the announcement', {
      interface: interfaceName,
      err: String(cause),
    }),
  'interface-missing': ({ interfaceName }) =>
    warn('interface is missing: its pools are not served until it is back', { interface: interfaceName }),
  'interface-back': ({ interfaceName }) => info('interface is new or back: serving it again', { interface: interfaceName }),
  'socket-failed': ({ interfaceName, error: cause }) =>
    error(`interface is not served, trying again: ${cause.message}`, { interface: interfaceName }),
  'frames-not-sent': ({ interfaceName }) =>
    warn('no CAP_NET_RAW: clients without an address are answered by broadcast', { interface: interfaceName }),
  'replies-not-sent': ({ interfaceName, error: cause, count }) =>
    warn('replies could not be sent', { interface: interfaceName, error: cause, count }),
  'interface-isolated': ({ interfaceName }) =>
    info('the interface is isolated from other networks now', { interface: interfaceName }),
  'isolation-failed': ({ interfaceName, message }) =>
    error(`${message}; it is not served; trying again every second`, { interface: interfaceName }),
  'isolation-restored': ({ interfaceName, corrected }) =>
    warn('another program changed how the interface is isolated from other networks: the agent corrected it', {
      interface: interfaceName,
      corrected,
    }),
  pool: (event) =>
    info('pool', { pool: event.pool, state: event.state, ...(event.state === 'unserved' && { reason: event.message }) }),
  'pool-unreadable': ({ pool, error: cause }) =>
    warn('the pool cannot be read: the agent serves the last version that it read, and tries again', {
      pool,
      err: errorForLog(cause),
    }),
  'pool-field-ignored': ({ pool, problem }) => warn(`ignored, because it is invalid: ${problem}`, { pool }),
  'pool-log-annotation-ignored': ({ pool, problem }) => warn(`${problem}; it is ignored`, { pool }),
  'owners-unreadable': ({ error: cause }) =>
    warn(
      'VirtualMachineNetworkConfigs cannot be read, so /leases shows no owners; the ServiceAccount of the agent needs get, list and watch on them',
      { err: String(cause) },
    ),
  'standby-answer': ({ pool, macAddress }) =>
    warn('the client retransmits because the leader has not answered: this standby answered', { pool, mac: macAddress }),
  'packet-failed': ({ interfaceName, error: cause }) =>
    error('a packet could not be answered', { err: cause, interface: interfaceName }),
  'address-conflict': ({ pool, macAddress, address, usedBy }) =>
    error('the address is in use by another machine: its client will get another address', {
      pool,
      address: formatIpv4Address(address),
      mac: macAddress,
      usedBy,
    }),
  'observed-use': ({ pool, address, usedBy, assignedTo }) =>
    warn(
      assignedTo === undefined
        ? 'a host uses an address of the pool that no client has: no client gets it as long as the host answers'
        : 'a host uses the address of another client: both may lose packets; give the host another address, or remove it from the network',
      { pool, address: formatIpv4Address(address), usedBy, ...(assignedTo !== undefined && { mac: assignedTo }) },
    ),
  'ipv6-address-declined': ({ pool, macAddress, address }) =>
    warn('a client declined its IPv6 address: another host uses it; find that host, and give it another address', {
      pool,
      address: formatIpv6Address(address),
      mac: macAddress,
    }),
  'addresses-not-heard': ({ interfaceName, error: cause }) =>
    warn('hosts that use addresses of others are not noticed: ARP cannot be heard; trying again', {
      interface: interfaceName,
      err: String(cause),
    }),
  'address-not-probed': ({ interfaceName, error: cause }) =>
    warn('the address cannot be probed; trying again when its client retransmits', {
      interface: interfaceName,
      err: String(cause),
    }),
  'answers-for-every-address': ({ interfaceName, macAddress, addresses }) =>
    warn(
      'a host answers ARP for addresses that no client has: its answers are ignored for an hour; find the host by its MAC ' +
        'address and switch off proxy ARP there',
      { interface: interfaceName, mac: macAddress, answeredFor: addresses.map(formatIpv4Address) },
    ),
  'rogue-servers': ({ interfaceName, servers }) =>
    warn('another DHCP server answers on this network: switch it off there, or delete the pool', {
      interface: interfaceName,
      servers,
    }),
  'no-rogue-servers': ({ interfaceName }) =>
    info('no other DHCP server answers on this network any longer', { interface: interfaceName }),
  'ipv6-routers': ({ interfaceName, routers }) =>
    info(
      routers.some(({ isDefaultRouter }) => isDefaultRouter)
        ? 'IPv6 routers, and hosts that advertise themselves as such, on this network'
        : 'no IPv6 router of this network advertises a default route, or answers',
      { interface: interfaceName, routers },
    ),
  'network-silent': ({ interfaceName }) =>
    warn(
      'no machine of this network can be reached: none has sent a request for two minutes, and none answers ARP; if machines run there, check the bridge on this node, its uplink and its VLAN',
      { interface: interfaceName },
    ),
  'network-reached': ({ interfaceName }) => info('a machine of this network can be reached again', { interface: interfaceName }),
  'servers-not-probed': ({ interfaceName, error: cause }) =>
    warn('the network cannot be probed for other DHCP servers; trying again', {
      interface: interfaceName,
      err: String(cause),
    }),
};

function toLine(event: LoggedEvent): Line {
  // The compiler does not know that an event belongs to the entry of its kind.
  return (LINES[event.kind] as LineOf<LoggedEvent>)(event);
}

const debug = lineAt('debug');
const info = lineAt('info');
const warn = lineAt('warn');
const error = lineAt('error');

function lineAt(level: Line['level']): (message: string, facts?: Line['facts']) => Line {
  return (message, facts) => ({ level, message, ...(facts !== undefined && { facts }) });
}
