/** Lists virtual machines whose interfaces have no address, with the same explanation as `kubectl vmdhcp why`. */

import { type AddressChain, type ChainLink, explainAddress, type Finding, firstTrouble, poolsByNetwork } from '@vmdhcp/explain';
import { type KubernetesObject, keyOf, parseTime, readConditions, readList, readText } from '@vmdhcp/kube-runtime';
import type { MachinePage, MachineWithoutAddress, PageReason, Section } from '../model/page-data.js';
import { toPageReason } from '../reason/page-reason.js';
import type { Objects } from './machine-names.js';
import { type ChainCaches, observeMachine } from './observe-machine.js';
import type { Pause } from './pause.js';

export interface MachineQuery {
  /** The maximum number of virtual machines, 1 or more. */
  readonly limit: number;
  /** How many virtual machines to skip. */
  readonly offset: number;
  /** The user's rights: IPPools and the Leases of agents are part of the explanation only if the user may list them. */
  readonly sections: ReadonlySet<Section>;
  /** Called between two slices of the work. It must not reject, because other requests may share the work. */
  readonly pause: Pause;
}

export interface MachineListPorts {
  readonly caches: ChainCaches;
  /** Milliseconds since 1970. */
  readonly wallTimeMs: () => number;
}

/** How many virtual machines are checked between two pauses. */
const AT_ONCE = 200;
/** An explanation takes as long as this many checks. */
const LOOKS_OF_EXPLANATION = 20;
/** How many are explained between two pauses: about a millisecond. */
const EXPLAINED_AT_ONCE = 10;
/** All requests within a second share a list. A page asks a second after it was told of a change, so its list is newer than the change. */
const SHARED_MS = 1_000;

export class MachinesWithoutAddress {
  readonly #ports: MachineListPorts;
  /** By the sections that explain them, so that thousands of virtual machines are not explained again for each open page. */
  readonly #known = new Map<string, SharedList>();
  /** Virtual machines without any interface on our networks, by the object that was checked. */
  readonly #unconcerned = new WeakMap<KubernetesObject, KubernetesObject | null>();
  /** Virtual machines whose config has all of their interfaces, by the object that was checked. */
  readonly #whole = new WeakMap<KubernetesObject, Checked>();

  constructor(ports: MachineListPorts) {
    this.#ports = ports;
  }

  async page({ limit, offset, ...query }: MachineQuery): Promise<MachinePage> {
    const { broken, waiting } = await this.#ranked(query);
    const machines = [...broken, ...waiting];
    const rows = machines.slice(offset, offset + limit).flat();
    const isMore = offset + limit < machines.length;
    return { rows, total: machines.length, broken: broken.length, continue: isMore ? String(offset + limit) : null };
  }

  #ranked(query: Pick<MachineQuery, 'sections' | 'pause'>): Promise<RankedMachines> {
    const key = EXPLAINING.filter((section) => query.sections.has(section)).join();
    const beganAtMs = this.#ports.wallTimeMs();
    const known = this.#known.get(key);
    if (known !== undefined && (!known.isOver || isRecent(known.beganAtMs, beganAtMs))) return known.ranked;
    const list: SharedList = { beganAtMs, isOver: false, ranked: this.#rank(query) };
    this.#known.set(key, list);
    const end = () => {
      list.isOver = true;
    };
    list.ranked.then(end, () => this.#known.delete(key));
    return list.ranked;
  }

  async #rank({ sections, pause }: Pick<MachineQuery, 'sections' | 'pause'>): Promise<RankedMachines> {
    const machines = await this.#explain(shownIn(this.#ports.caches, sections), pause);
    return { broken: machines.filter(isBroken), waiting: machines.filter((rows) => !isBroken(rows)) };
  }

  /** The rows of each virtual machine that has any, sorted by key. */
  async #explain(caches: ChainCaches, pause: Pause): Promise<readonly (readonly MachineWithoutAddress[])[]> {
    const keys = await this.#candidates(pause);
    const context = { poolsByNetwork: poolsByNetwork(caches.ipPools.values()), nowMs: this.#ports.wallTimeMs() };
    const machines: (readonly MachineWithoutAddress[])[] = [];
    for (const [index, key] of keys.entries()) {
      if (index % EXPLAINED_AT_ONCE === EXPLAINED_AT_ONCE - 1) await pause();
      machines.push(toRows(explainAddress(observeMachine(caches, key, context)), caches.networkConfigs.get(key)));
    }
    return machines.filter((rows) => rows.length > 0);
  }

  /** Keys of virtual machines that may lack an address, sorted. */
  async #candidates(pause: Pause): Promise<readonly string[]> {
    const { virtualMachines, networkConfigs } = this.#ports.caches;
    const keys: string[] = [];
    let left = AT_ONCE;
    const look = async (looks: number) => {
      left -= looks;
      if (left > 0) return;
      await pause();
      left = AT_ONCE;
    };
    for (const machine of virtualMachines.values()) {
      const key = keyOf(machine);
      const config = networkConfigs.get(key);
      const isKnown =
        config === undefined ? this.#isUnconcerned(machine, key) : !isComplete(config) || this.#isWhole(machine, config);
      await look(isKnown ? 1 : LOOKS_OF_EXPLANATION);
      if (config === undefined ? this.#isConcerned(machine, key) : this.#lacksAddress(machine, config)) keys.push(key);
    }
    for (const config of networkConfigs.values()) {
      await look(1);
      const key = keyOf(config);
      if (virtualMachines.get(key) === undefined && !isComplete(config)) keys.push(key);
    }
    return keys.toSorted();
  }

  /** Most virtual machines without a VirtualMachineNetworkConfig have no interface on our networks, and stay so. */
  #isConcerned(machine: KubernetesObject, key: string): boolean {
    const { caches, wallTimeMs } = this.#ports;
    if (this.#isUnconcerned(machine, key)) return false;
    const chain = explainAddress(observeMachine(caches, key, { poolsByNetwork: new Map(), nowMs: wallTimeMs() }));
    const isConcerned = chain.interfaces.length > 0 || rowOfMachine(chain) !== undefined;
    if (!isConcerned) this.#unconcerned.set(machine, caches.virtualMachineInstances.get(key) ?? null);
    return isConcerned;
  }

  /** A config whose interfaces all have addresses may leave an interface of its machine out. */
  #lacksAddress(machine: KubernetesObject, config: KubernetesObject): boolean {
    const { caches, wallTimeMs } = this.#ports;
    if (!isComplete(config)) return true;
    if (this.#isWhole(machine, config)) return false;
    const key = keyOf(machine);
    const chain = explainAddress(observeMachine(caches, key, { poolsByNetwork: new Map(), nowMs: wallTimeMs() }));
    if (toRows(chain, config).length > 0) return true;
    this.#whole.set(machine, { config, instance: caches.virtualMachineInstances.get(key) });
    return false;
  }

  /** True if the same objects were checked before. */
  #isWhole(machine: KubernetesObject, config: KubernetesObject): boolean {
    const checked = this.#whole.get(machine);
    return checked?.config === config && checked.instance === this.#ports.caches.virtualMachineInstances.get(keyOf(machine));
  }

  /** True if the same objects were checked before. */
  #isUnconcerned(machine: KubernetesObject, key: string): boolean {
    return this.#unconcerned.get(machine) === (this.#ports.caches.virtualMachineInstances.get(key) ?? null);
  }
}

interface Checked {
  readonly config: KubernetesObject;
  readonly instance: KubernetesObject | undefined;
}

/** Sections that are part of an explanation, besides that of virtual machines. */
const EXPLAINING = ['pools', 'agents'] as const satisfies readonly Section[];

interface RankedMachines {
  /** The rows of each virtual machine with a row that needs action. */
  readonly broken: readonly (readonly MachineWithoutAddress[])[];
  readonly waiting: readonly (readonly MachineWithoutAddress[])[];
}

interface SharedList {
  readonly beganAtMs: number;
  readonly ranked: Promise<RankedMachines>;
  isOver: boolean;
}

/** Also false if the clock was set back. */
function isRecent(beganAtMs: number, nowMs: number): boolean {
  return beganAtMs <= nowMs && nowMs < beganAtMs + SHARED_MS;
}

function isBroken(rows: readonly MachineWithoutAddress[]): boolean {
  return rows.some(({ state }) => state === 'broken');
}

/** Kinds of other sections count as unread if the user may not list them. The section itself requires the right to list the remaining kinds. */
function shownIn(caches: ChainCaches, sections: ReadonlySet<Section>): ChainCaches {
  return {
    ...caches,
    ...(!sections.has('pools') && { ipPools: NOT_SHOWN }),
    ...(!sections.has('agents') && { leases: NOT_SHOWN }),
  };
}

const NOT_SHOWN: Objects = { synced: false, get: () => undefined, values: () => [] };

/** True if every interface has its address from the controller. */
function isComplete({ spec, status }: KubernetesObject): boolean {
  const [wanted, given] = [readList(spec, 'networkConfigs'), readList(status, 'networkConfigs')];
  const isRefused = readConditions(status).some((one) => one.type === 'Allocated' && one.status === 'False');
  return (
    !isRefused &&
    wanted.length === given.length &&
    wanted.length > 0 &&
    given.every((entry) => readText(entry, 'state') === 'Allocated' && readText(entry, 'allocatedIPAddress') !== undefined)
  );
}

function toRows(chain: AddressChain, config: KubernetesObject | undefined): readonly MachineWithoutAddress[] {
  const { namespace, name } = chain;
  const sinceMs = sinceWhen(config);
  const ofMachine = rowOfMachine(chain);
  const rows = chain.interfaces.flatMap(({ network, macAddress = '', address, links }): MachineWithoutAddress[] => {
    const found = troubleIn(links);
    if (address !== undefined || found === undefined) return [];
    return [{ namespace, name, network, mac: macAddress, ...found, sinceMs }];
  });
  return ofMachine === undefined ? rows : [{ namespace, name, network: '', mac: '', ...ofMachine, sinceMs }, ...rows];
}

const TROUBLES = ['broken', 'waiting'] as const;

type Trouble = Pick<MachineWithoutAddress, 'state' | 'reasons'>;

function rowOfMachine({ links }: AddressChain): Trouble | undefined {
  const found = troubleIn(links);
  const isOther = found?.reasons.every(({ reason }) => reason === 'NoInterfaceOnNetwork' || reason === 'VirtualMachineUnknown');
  return isOther === true ? undefined : found;
}

/** The links that are broken or wait, in the order of cause and effect; the first one is the cause. */
function troubleIn(links: readonly ChainLink[]): Trouble | undefined {
  const state = firstTrouble(links)?.state;
  if (state !== 'broken' && state !== 'waiting') return undefined;
  const troubles = links.flatMap(({ findings }) => TROUBLES.flatMap((grave) => findings.filter((one) => one.state === grave)));
  return { state, reasons: troubles.map(reasonOf) };
}

function reasonOf({ reason, message }: Finding): PageReason {
  return toPageReason(reason, message);
}

function sinceWhen(config: KubernetesObject | undefined): number | null {
  const allocated = readConditions(config?.status).find(({ type }) => type === 'Allocated');
  if (allocated?.status !== 'False') return null;
  const sinceMs = parseTime(allocated.lastTransitionTime);
  return Number.isNaN(sinceMs) ? null : sinceMs;
}
