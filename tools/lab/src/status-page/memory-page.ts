/** The real server of the status page over a source in memory, for tests, pictures and measurements in a browser. */
import {
  formatIpv4Address,
  type Ipv4Address,
  type MacAddress,
  type PoolDefinition,
  parseIpv4Address,
  validatePool,
} from '@vmdhcp/dhcp-allocator';
import { systemClock } from '@vmdhcp/kube-runtime/node';
import {
  type AccessDecision,
  AddressTable,
  type AgentsPage,
  type EventsOf,
  type HostsPage,
  keptReservations,
  loadAssets,
  type MachinePage,
  PageServer,
  type PageSource,
  type PoolClient,
  type PoolFacts,
  type RecentEventsPage,
  SECTIONS,
  type Section,
  type SectionAccess,
  type SourceChange,
  toPoolSnapshot,
  type VersionedPool,
  type WakeOnLanPage,
} from '@vmdhcp/status-page';

/** A client of a pool in memory. */
export interface MemoryLease {
  readonly address: string;
  /** `namespace/name` of its virtual machine; default: none. */
  readonly machine?: string;
  readonly hostname?: string;
  /** Default: made of the address. */
  readonly mac?: MacAddress;
}

/** What the page shows of a pool that its definition and its leases do not have. */
export type PoolNotes = Partial<
  Pick<PoolFacts, 'state' | 'reasons' | 'conditions' | 'quarantined' | 'servedByPod' | 'agents' | 'network'>
>;

interface MemoryPool {
  facts: PoolFacts;
  version: number;
  /** Made when it is asked for: a test may change a hundred leases before that. */
  known: VersionedPool | undefined;
}

const NOTHING: PoolNotes = {};

/** Data in memory, and a server that shows it on loopback. */
export class MemoryPage {
  agents: AgentsPage = { groups: [], followedSinceMs: 0 };
  machines: MachinePage = { rows: [], total: 0, broken: 0, continue: null };
  wakeOnLan: WakeOnLanPage = { configs: [] };
  hosts: Omit<HostsPage, 'counts'> = { clusterAgents: [], hosts: [] };
  /** By what they are about. */
  events: Readonly<Partial<Record<EventsOf, RecentEventsPage>>> = {};
  /** What the server does not know yet. */
  unready: readonly string[] = [];
  /** What is decided about a token. */
  decide: (token: string | undefined) => AccessDecision = () => grantAll(null);
  /** What went wrong in the server. */
  readonly errors: unknown[] = [];
  readonly #pools = new Map<string, MemoryPool>();
  readonly #machineNames = new Map<string, string>();
  readonly #listeners = new Set<(change: SourceChange) => void>();
  readonly #assets = loadAssets();
  #server: PageServer | undefined;
  #starts = 0;
  #port = 0;

  /** The address of the page. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  /** Pages that are open. */
  get streams(): number {
    return this.#server?.streams ?? 0;
  }

  /** Serves; after `stop` again, on the same TCP port, as another process. */
  async start(): Promise<void> {
    this.#starts++;
    this.#server = await PageServer.start({
      source: this.#toSource(),
      access: { decide: async (token) => this.decide(token) },
      assets: this.#assets,
      clock: systemClock,
      wallTimeMs: () => Date.now(),
      instance: `memory-${this.#starts}`,
      version: '0.0.0',
      servedBy: 'vmdhcp-controller-6b7c9d5f4-x2k4p',
      onlyLoopbackNames: true,
      onError: (error) => this.errors.push(error),
      listen: { host: '127.0.0.1', port: this.#port },
      certificate: undefined,
    });
    this.#port = this.#server.port;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** Adds a pool, or puts another one in its place. @throws Error if the definition has a problem. */
  putPool(definition: PoolDefinition, leases: readonly MemoryLease[], notes = NOTHING): void {
    const checked = validatePool(definition);
    if (!checked.ok) throw new Error(checked.problems.map(({ message }) => message).join('; '));
    const [namespace = '', name = ''] = definition.name.split('/');
    const clients = AddressTable.of(leases.map((lease) => this.#toClient(lease)));
    const texts = { network: `${namespace}/${name.replace('net', 'vlan')}`, servedByPod: '', agents: '' };
    const rest = { state: 'ok', reasons: [], conditions: [], quarantined: [], unusable: [] } as const;
    const { value: pool } = checked;
    this.#put(definition.name, {
      namespace,
      name,
      pool,
      clients,
      kept: keptReservations(pool, clients),
      ...texts,
      ...rest,
      ...notes,
    });
  }

  /** Changes leases of a pool, and what is known about it. */
  change(key: string, leases: readonly MemoryLease[], { removed = [] as readonly string[], notes = NOTHING } = {}): void {
    const facts = this.#pools.get(key)?.facts;
    if (facts === undefined) throw new Error(`there is no pool ${key}`);
    const changes = { removed: removed.map(toAddress), set: leases.map((lease) => this.#toClient(lease)) };
    const clients = facts.clients.with(changes);
    this.#put(key, { ...facts, clients, kept: keptReservations(facts.pool, clients), ...notes });
  }

  /** Informs the pages that are open that a section has changed. */
  changed(section: Section): void {
    for (const listener of this.#listeners) listener({ section });
  }

  #put(key: string, facts: PoolFacts): void {
    this.#pools.set(key, { facts, version: (this.#pools.get(key)?.version ?? 0) + 1, known: undefined });
    for (const listener of this.#listeners) listener({ section: 'pools', pool: key });
  }

  #toClient({ address, machine, hostname, mac }: MemoryLease): [Ipv4Address, PoolClient] {
    const value = toAddress(address);
    const macAddress = mac ?? toMac(value);
    if (machine !== undefined) this.#machineNames.set(macAddress, machine);
    return [value, { address: value, macAddress, ...(hostname !== undefined && { hostname }) }];
  }

  #listHosts(limit: number): HostsPage {
    const { clusterAgents, hosts } = this.hosts;
    const [ok, broken, unknown] = [true, false, null].map((state) => hosts.filter(({ isHealthy }) => isHealthy === state));
    if (ok === undefined || broken === undefined || unknown === undefined) throw new Error('a host is in no state');
    const counts = { ok: ok.length, broken: broken.length, unknown: unknown.length };
    return { clusterAgents, hosts: [...broken, ...unknown, ...ok].slice(0, limit), counts };
  }

  #find(key: string): VersionedPool | undefined {
    const pool = this.#pools.get(key);
    if (pool === undefined) return undefined;
    pool.known ??= { version: `${this.#starts}-${pool.version}`, snapshot: toPoolSnapshot(pool.facts) };
    return pool.known;
  }

  #toSource(): PageSource {
    return {
      kind: 'cluster',
      sections: new Set(SECTIONS),
      unready: () => this.unready,
      isLeader: () => true,
      pools: () => [...this.#pools.keys()].sort().flatMap((key) => this.#find(key)?.snapshot ?? []),
      pool: (key) => this.#find(key),
      machineOf: (_network, macAddress) => this.#machineNames.get(macAddress) ?? '',
      machines: async () => this.machines,
      agents: () => this.agents,
      wakeOnLan: () => this.wakeOnLan,
      hosts: async ({ limit }) => this.#listHosts(limit),
      recentEvents: async ({ of, pool }) => ({
        rows: (this.events[of]?.rows ?? []).filter(({ namespace, name }) => pool === '' || pool === `${namespace}/${name}`),
      }),
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }
}

/** A user who may see everything; null: no token is wanted. */
export function grantAll(user: string | null, differences: Partial<Record<Section, SectionAccess>> = {}): AccessDecision {
  const shown = Object.fromEntries(SECTIONS.map((section) => [section, { kind: 'shown' }])) as Record<Section, SectionAccess>;
  return { kind: 'granted', user, sections: { ...shown, ...differences } };
}

/** `02:00:0a:01:25:04` of 10.1.37.4. */
function toMac(address: Ipv4Address): MacAddress {
  const octets = formatIpv4Address(address).split('.');
  return ['02', '00', ...octets.map((octet) => Number(octet).toString(16).padStart(2, '0'))].join(':');
}

function toAddress(text: string): Ipv4Address {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  return address;
}
