/** The page's data in a cluster, from shared caches. It writes nothing, and every replica of the controller can serve it. */
import { AGENT_LABEL, AGENT_LABEL_VALUE } from '@vmdhcp/ippool-api';
import { Resource } from '@vmdhcp/ippool-api/resources';
import {
  type ApiResource,
  type CacheSubscription,
  type KubernetesObject,
  readText,
  type SharedCaches,
} from '@vmdhcp/kube-runtime';
import { LeaderTerms } from '../lists/leader-terms.js';
import { listAgentGroups } from '../lists/list-agent-groups.js';
import { causesIn, type RankedHosts, rankHosts, toHostsPage } from '../lists/list-hosts.js';
import { listWakeConfigs } from '../lists/list-wake-configs.js';
import { MachineNames } from '../lists/machine-names.js';
import { MachinesWithoutAddress } from '../lists/machines-without-address.js';
import { OncePerList } from '../lists/once-per-list.js';
import {
  type EventSelection,
  isAboutGroups,
  isOfPart,
  newestRows,
  selectEvents,
  selectHostEvents,
  toRecentEvents,
} from '../lists/recent-events.js';
import type { RecentEvent, Section } from '../model/page-data.js';
import { VersionedPools } from '../pool/versioned-pools.js';
import type { PageSource, SourceChange } from './page-source.js';

/** The caches of a cluster, and which sections the page has. */
export interface ClusterSourceSettings {
  readonly caches: Pick<SharedCaches, 'subscribe'>;
  /** The unique name of this process. */
  readonly instance: string;
  readonly onlyNamespace: string | undefined;
  /** The namespace of the agents; undefined if this controller deploys none. */
  readonly agentsNamespace: string | undefined;
  readonly hasWakeOnLan: boolean;
  /** Reads all HostStatuses; undefined if bare-metal hosts are off. */
  readonly hostStatuses: (() => Promise<readonly KubernetesObject[]>) | undefined;
  /** Lists Events. */
  readonly events: (selection: EventSelection) => Promise<readonly KubernetesObject[]>;
  readonly isLeading: () => boolean;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
  /** A list or watch failed, and is retried. */
  readonly onError: (kind: string, error: unknown) => void;
}

/** The data of a page of a cluster, which follows its caches. */
export interface ClusterSource extends PageSource {
  readonly synced: boolean;
  readonly start: () => void;
  readonly stop: () => void;
}

/** Subscribes to the kinds that the page shows. Kinds that the controller also follows are listed and watched once. */
export function createClusterSource(settings: ClusterSourceSettings): ClusterSource {
  return new CachedCluster(settings);
}

type Kind = 'pools' | 'networkConfigs' | 'virtualMachines' | 'instances' | 'networks' | 'leases' | 'wolConfigs' | 'clusterAgents';

/** The section that shows the objects of a kind; other kinds are only read for it. */
const SECTION_OF: Readonly<Record<Kind, Section>> = {
  pools: 'pools',
  networkConfigs: 'machines',
  virtualMachines: 'machines',
  instances: 'machines',
  networks: 'machines',
  leases: 'agents',
  wolConfigs: 'wake-on-lan',
  clusterAgents: 'hosts',
};

const NO_GROUPS: ReadonlySet<string> = new Set();
const NO_CAUSES: ReadonlyMap<string, string> = new Map();

class CachedCluster implements ClusterSource {
  readonly kind = 'cluster';
  readonly sections: ReadonlySet<Section>;
  readonly #settings: ClusterSourceSettings;
  readonly #caches: Readonly<Record<Kind, CacheSubscription | undefined>>;
  readonly #listeners = new Set<(change: SourceChange) => void>();
  readonly #pools: VersionedPools;
  readonly #names: MachineNames;
  readonly #machines: MachinesWithoutAddress;
  readonly #terms = new LeaderTerms();
  readonly #causes = new OncePerList<ReadonlyMap<string, string>>();
  /** Shared by the causes and the list of hosts. */
  readonly #rankings = new OncePerList<OncePerList<RankedHosts>>();
  readonly #rows = new OncePerList<readonly RecentEvent[]>();
  #startedAtMs = 0;

  constructor(settings: ClusterSourceSettings) {
    this.#settings = settings;
    const { agentsNamespace, hasWakeOnLan, hostStatuses } = settings;
    const labelSelector = `${AGENT_LABEL}=${AGENT_LABEL_VALUE}`;
    const pools = this.#subscribe('pools', this.#within(Resource.ipPools));
    const networkConfigs = this.#subscribe('networkConfigs', this.#within(Resource.networkConfigs));
    this.#caches = {
      pools,
      networkConfigs,
      virtualMachines: this.#subscribe('virtualMachines', this.#within(Resource.virtualMachines)),
      instances: this.#subscribe('instances', this.#within(Resource.virtualMachineInstances)),
      networks: this.#subscribe('networks', this.#within(Resource.networks)),
      leases:
        agentsNamespace === undefined
          ? undefined
          : this.#subscribe('leases', { ...Resource.leases, namespace: agentsNamespace, labelSelector }),
      wolConfigs: hasWakeOnLan ? this.#subscribe('wolConfigs', Resource.wolConfigs) : undefined,
      clusterAgents: hostStatuses && this.#subscribe('clusterAgents', Resource.clusterAgents),
    };
    const own = Object.keys(SECTION_OF) as Kind[];
    const followed = own.flatMap((kind) => (this.#caches[kind] === undefined ? [] : [SECTION_OF[kind]]));
    this.sections = new Set<Section>([...followed, 'events']);
    this.#pools = new VersionedPools(pools, settings.instance);
    this.#names = new MachineNames(networkConfigs);
    this.#machines = new MachinesWithoutAddress({ ...settings, caches: this.#chainCaches(pools, networkConfigs) });
  }

  readonly start = (): void => {
    this.#startedAtMs = this.#settings.wallTimeMs();
    for (const cache of Object.values(this.#caches)) cache?.start();
  };

  readonly stop = (): void => {
    this.#listeners.clear();
    for (const cache of Object.values(this.#caches)) cache?.stop();
  };

  /** The cluster may lack the kind VirtualMachineInstance. */
  get synced(): boolean {
    return this.#missing().every((kind) => kind === 'instances');
  }

  readonly unready = (): readonly string[] =>
    (Object.keys(this.#caches) as Kind[]).flatMap((kind) => {
      const problem = this.#caches[kind]?.problem();
      return problem === undefined ? [] : [`${kind}: ${problem}`];
    });
  readonly isLeader = (): boolean => this.#settings.isLeading();
  readonly pools: PageSource['pools'] = () => this.#pools.all();
  readonly pool: PageSource['pool'] = (key) => this.#pools.get(key);
  readonly machineOf: PageSource['machineOf'] = (network, macAddress) => this.#names.find(network, macAddress);
  readonly machines: PageSource['machines'] = (query) => this.#machines.page(query);
  readonly agents: PageSource['agents'] = () => ({
    groups: listAgentGroups(this.#caches.leases?.values() ?? [], this.#terms, this.#settings.wallTimeMs()),
    followedSinceMs: this.#startedAtMs,
  });
  readonly wakeOnLan: PageSource['wakeOnLan'] = () => ({ configs: listWakeConfigs(this.#caches.wolConfigs?.values() ?? []) });
  readonly hosts: PageSource['hosts'] = async ({ limit, sections }) => {
    const [hostStatuses = [], causes] = await Promise.all([
      this.#settings.hostStatuses?.(),
      sections.has('events') ? this.#hostCauses() : NO_CAUSES,
    ]);
    const rankings = this.#rankings.get(causes, '', () => new OncePerList());
    const ranked = rankings.get(hostStatuses, '', () => rankHosts({ hostStatuses, causes }));
    return toHostsPage(ranked, this.#caches.clusterAgents?.values() ?? [], limit);
  };

  readonly recentEvents: PageSource['recentEvents'] = async (query) => {
    const { of, pool } = query;
    // Each name causes a request to the API server, so made-up names must not.
    if (of === 'pools' && pool !== '' && this.#caches.pools?.get(pool) === undefined) return { rows: [] };
    const listed = selectEvents(query, this.#settings).map(async (selection) => {
      const events = await this.#settings.events(selection);
      const groups = of === 'agents' ? this.#groups() : NO_GROUPS;
      const isShown = (event: KubernetesObject) => (of === 'agents' ? isAboutGroups(event, groups) : isOfPart(event, of));
      const name = JSON.stringify([of, selection, [...groups].toSorted()]);
      return this.#rows.get(events, name, () => newestRows(events.filter(isShown), selection));
    });
    return toRecentEvents(await Promise.all(listed));
  };

  readonly onChange: PageSource['onChange'] = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Hosts are shown even without them. */
  async #hostCauses(): Promise<ReadonlyMap<string, string>> {
    const selection = selectHostEvents(this.#settings);
    if (selection === undefined) return NO_CAUSES;
    try {
      const events = await this.#settings.events(selection);
      return this.#causes.get(events, '', () => causesIn(events));
    } catch (error) {
      this.#settings.onError('events', error);
      return NO_CAUSES;
    }
  }

  /** The names of the groups of agents. One whose pods never ran has no Lease, but its IPPools name it. */
  #groups(): ReadonlySet<string> {
    const { leases, pools } = this.#caches;
    const ofLeases = [...(leases?.values() ?? [])].map(({ metadata }) => metadata.name);
    const ofPools = [...(pools?.values() ?? [])].flatMap(({ status }) => readText(status, 'agentDeploymentRef', 'name') ?? []);
    return new Set([...ofLeases, ...ofPools]);
  }

  #missing(): Kind[] {
    const kinds = Object.keys(this.#caches) as Kind[];
    return kinds.filter((kind) => this.#caches[kind]?.synced === false);
  }

  #subscribe(kind: Kind, resource: ApiResource): CacheSubscription {
    return this.#settings.caches.subscribe(resource, {
      onChange: (key) => this.#onChange(kind, key),
      onError: (error) => this.#settings.onError(kind, error),
    });
  }

  #onChange(kind: Kind, key: string): void {
    const section = SECTION_OF[kind];
    if (kind === 'networkConfigs') this.#names.note(key);
    if (kind === 'leases') this.#terms.note(key, this.#caches.leases?.get(key), this.#settings.wallTimeMs());
    const change: SourceChange = kind === 'pools' ? { section, pool: key } : { section };
    for (const listener of this.#listeners) listener(change);
  }

  #within(resource: ApiResource): ApiResource {
    const { onlyNamespace } = this.#settings;
    return onlyNamespace === undefined ? resource : { namespace: onlyNamespace, ...resource };
  }

  #chainCaches(pools: CacheSubscription, networkConfigs: CacheSubscription) {
    const { virtualMachines, instances, networks, leases } = this.#caches;
    const none = { synced: false, get: () => undefined, values: () => [] };
    return {
      ipPools: pools,
      networkConfigs,
      virtualMachines: virtualMachines ?? none,
      virtualMachineInstances: instances ?? none,
      networks: networks ?? none,
      leases: leases ?? none,
    };
  }
}
