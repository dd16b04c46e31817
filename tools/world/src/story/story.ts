/** Plays the story of a seed: which faults are possible and how often, what happens when, and what the auditor finds. */
import { randomFrom } from '@vmdhcp/kube-runtime/testing';
import type { AgentTopology } from '@vmdhcp/reconciler';
import { Auditor, type Violation } from '../auditor/auditor.js';
import type { Programs } from '../cluster/programs.js';
import { FAIR, World, type WorldSettings } from '../cluster/world.js';
import { type Captured, GOOD_LINKS } from '../network/segment.js';
import type { PlantedFault } from '../planted-faults.js';
import { FAULTS } from './faults.js';
import { LIFE_OF_IPV6, LIFE_OF_MACHINES, LIFE_OF_POOLS, WAKE_UPS } from './life.js';
import { RACK_FAULTS, RACK_LIFE } from './rack-acts.js';
import { type Act, isDenied, type Scene } from './scene.js';
import { tellObjects } from './tell-objects.js';

export interface StoryOutcome {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly virtualMs: number;
  /** The checks of the auditor. */
  readonly checked: ReadonlyMap<string, number>;
  /** The number of events, by act. */
  readonly acts: ReadonlyMap<string, number>;
  /** The number of possible acts, including omitted ones. */
  readonly actNumbers: number;
}

export interface StorySettings {
  readonly seed: number;
  readonly fault?: PlantedFault | undefined;
  /** The programs of another version, which run beside these. */
  readonly beside?: Programs | undefined;
  /** Receives descriptions of events. */
  readonly onLine?: (atMs: number, line: string) => void;
  /** Receives captured packets. */
  readonly onCaptured?: (captured: Captured) => void;
  /** True if the story ends when a law is broken. */
  readonly endsWhenBroken?: boolean;
  /** Acts that are left out, by number: for shrinking. */
  readonly without?: ReadonlySet<number> | undefined;
}

const START_MS = 15_000;
const LOOK_MS = 1_000;
const EVENTFUL_MS = 300_000;
const CALM_MS = 180_000;
const REST_MS = 420_000;
/** Where agents may have to notice that they are on the wrong node. */
const LONG_REST_MS = 900_000;
/** The weight of each act of Wake-on-LAN. */
const WAKE_UPS_SHARE = 3;
const REST_STEP_MS = 60_000;
/** One story in so many has bare-metal hosts. */
const RACK_SHARE = 3;
/** One story in so many has IPv6. */
const IPV6_SHARE = 2;
const FIRST_HOSTS = 5;
const POOL_SIZES = [4, 8, 30];

/** Neighbouring seeds have nothing in common. Source: the finalizer of MurmurHash3. */
function mixed(seed: number): number {
  let mixing = (seed ^ (seed / 2 ** 32)) >>> 0;
  mixing = Math.imul(mixing ^ (mixing >>> 16), 0x85ebca6b);
  mixing = Math.imul(mixing ^ (mixing >>> 13), 0xc2b2ae35);
  return (mixing ^ (mixing >>> 16)) >>> 0;
}

/** Plays the story of a seed. */
export async function playStory(settings: StorySettings): Promise<StoryOutcome> {
  return await new Story(settings).play();
}

class Story {
  readonly #settings: StorySettings;
  readonly #random;
  readonly #acts = new Map<string, number>();
  readonly #lastMs = new Map<string, number>();
  readonly #undo = new Set<() => void>();
  #number = 0;
  #actNumber = 0;

  constructor(settings: StorySettings) {
    this.#settings = settings;
    // Separate random numbers, so that the set of acts does not change the events in between.
    this.#random = randomFrom(mixed(settings.seed));
  }

  async play(): Promise<StoryOutcome> {
    const { seed } = this.#settings;
    const settings = this.#chooseWorld();
    const { poolSizes: sizes, hasWakeOnLan, isPlain, hasIpv6 } = settings;
    const world = await World.create(settings);
    const auditor = new Auditor(world);
    this.#connect(world, auditor);
    if (this.#settings.onLine !== undefined) world.whileApiRuns(() => tellObjects(world, (line) => this.#say(world, line)));
    const look = () => {
      auditor.look();
      world.scheduler.after(LOOK_MS, look);
    };
    await world.installUnifiedAgents();
    const topology = world.topologies[this.#random(world.topologies.length)] as AgentTopology;
    const more = [hasWakeOnLan && 'Wake-on-LAN', isPlain && 'each on some nodes alone', hasIpv6 && 'IPv6'].filter(Boolean);
    this.#say(world, [`${sizes.length} pools of ${sizes.join(', ')} addresses`, `topology ${topology}`, ...more].join(', '));
    world.startControllers(topology);
    await world.pass(START_MS);
    look();
    await this.#tell(world, auditor);
    await world.stop();
    const { violations, counts } = auditor;
    return {
      seed,
      violations,
      virtualMs: world.scheduler.nowMs(),
      checked: world.besideCount === 0 ? counts : new Map([...counts, ['programs of the other version', world.besideCount]]),
      acts: this.#acts,
      actNumbers: this.#actNumber,
    };
  }

  #chooseWorld(): WorldSettings {
    const { seed, fault, beside } = this.#settings;
    return {
      seed: mixed(seed + 1),
      poolSizes: Array.from({ length: 1 + this.#random(3) }, () => POOL_SIZES[this.#random(POOL_SIZES.length)] as number),
      hasWakeOnLan: this.#random(2) === 0 || fault?.needsWakeOnLan === true,
      isPlain: this.#random(3) === 0 || fault?.isPlain === true,
      hasRack: fault === undefined ? mixed(seed + 2) % RACK_SHARE === 0 : fault.needsRack === true,
      rackLeases:
        fault === undefined ? (mixed(seed + 4) % 2 === 0 ? 'api' : 'disk') : fault.leaseSlices === undefined ? 'disk' : 'api',
      hasIpv6: fault === undefined ? mixed(seed + 3) % IPV6_SHARE === 0 : fault.needsIpv6 === true,
      ...{ fault, beside },
    };
  }

  /** Reports what happens to the auditor, and to who reads the story. */
  #connect(world: World, auditor: Auditor): void {
    world.onStartRequest = (request) => {
      this.#say(world, `KubeVirt is asked to start ${request.name}${request.isTaken ? '' : ', and refuses'}`);
      auditor.onStartRequest(request);
    };
    world.onMagicPacket = (packet) => auditor.onMagicPacket(packet);
    world.onDenied = (act, message) => auditor.onDenied(act, message);
    world.onSecondPool = (network, isAccepted) => auditor.onSecondPool(network, isAccepted);
    world.onCaptured = (captured) => {
      const { packet, server, segment } = captured;
      const what = `${packet.type} ${packet.yiaddr === '0.0.0.0' ? packet.ciaddr : packet.yiaddr}`;
      this.#say(
        world,
        server === undefined
          ? `${segment}: ${packet.macAddress} sends ${what}`
          : `${segment}: ${server} answers ${packet.macAddress} ${what}`,
      );
      this.#settings.onCaptured?.(captured);
      auditor.onCaptured(captured);
    };
    world.onCapturedDhcpv6 = (captured) => {
      const { packet, server, segment, macAddress } = captured;
      const what = [
        `DHCPv6 ${packet.type}`,
        ...packet.addresses.map(({ address, validSeconds }) => `${address} for ${validSeconds} s`),
      ].join(' ');
      this.#say(world, `${segment}: ${server === undefined ? `${macAddress} sends` : `${server} answers ${macAddress}`} ${what}`);
      auditor.onCapturedDhcpv6(captured);
    };
  }

  async #tell(world: World, auditor: Auditor): Promise<void> {
    const { calm, eventful } = this.#actsOf(world);
    const scene: Scene = {
      world,
      next: () => ++this.#number,
      lastMs: this.#lastMs,
      later: (mostMs, undo) => this.#later(world, mostMs, undo),
    };
    await this.#createFirst(scene);
    for (const isEventful of [true, false, true]) {
      if (this.#isOver(auditor)) return;
      auditor.disturbed(isEventful);
      if (!isEventful) this.#heal(world);
      await this.#during(isEventful ? EVENTFUL_MS : CALM_MS, { scene, auditor }, isEventful ? eventful : calm);
    }
    this.#heal(world);
    auditor.disturbed(false);
    const wholeRestMs = world.isPlain ? LONG_REST_MS : REST_MS;
    for (let restMs = 0; restMs < wholeRestMs && !this.#isOver(auditor); restMs += REST_STEP_MS) await world.pass(REST_STEP_MS);
    if (!this.#isOver(auditor)) auditor.lookAtRest();
  }

  /** The acts of calm and of eventful times. */
  #actsOf(world: World) {
    const guests = [...this.#some(LIFE_OF_MACHINES), ...wakeUpsOf(world)];
    const ofPools = [...this.#some(LIFE_OF_POOLS), ...(world.hasIpv6 ? this.#some(LIFE_OF_IPV6) : [])];
    const faults = this.#some(FAULTS);
    const [hosts, rackFaults] =
      world.rack === undefined
        ? [[], []]
        : [Object.entries(RACK_LIFE).flatMap((act) => [act, act, act]), this.#some(RACK_FAULTS)];
    const calm = [...guests, ...hosts];
    return { calm, eventful: [...calm, ...ofPools, ...faults, ...faults, ...rackFaults, ...rackFaults] };
  }

  async #createFirst(scene: Scene): Promise<void> {
    for (let machines = 3 + this.#random(8); machines > 0; machines--)
      await this.#act(scene, 'create a machine', LIFE_OF_MACHINES['create a machine'] as Act);
    for (let hosts = scene.world.rack === undefined ? 0 : FIRST_HOSTS; hosts > 0; hosts--)
      await this.#act(scene, 'switch a new host on', RACK_LIFE['switch a new host on'] as Act);
    if (!scene.world.hasWakeOnLan) return;
    for (const name of ['create a machine that may be woken', 'create a machine that nobody may wake'])
      await this.#act(scene, name, WAKE_UPS[name] as Act);
  }

  #isOver({ violations }: Auditor): boolean {
    return this.#settings.endsWhenBroken === true && violations.length > 0;
  }

  async #during(
    ms: number,
    { scene, auditor }: { readonly scene: Scene; readonly auditor: Auditor },
    acts: readonly (readonly [string, Act])[],
  ): Promise<void> {
    const { world } = scene;
    const untilMs = world.scheduler.nowMs() + ms;
    while (world.scheduler.nowMs() < untilMs && !this.#isOver(auditor)) {
      const chosen = acts[this.#random(Math.max(1, acts.length))];
      if (chosen !== undefined) await this.#act(scene, ...chosen);
      // Often one thing after the other, sometimes nothing for a while.
      await world.pass(Math.min(untilMs - world.scheduler.nowMs(), [300, 3_000, 12_000, 40_000][this.#random(4)] as number));
    }
  }

  async #act(scene: Scene, name: string, act: Act): Promise<void> {
    const number = this.#actNumber++;
    if (this.#settings.without?.has(number) === true) return;
    const { world } = scene;
    const done = act(scene);
    const refused = (error: unknown) => {
      // The API server may refuse an act: a pool that is being deleted cannot be edited.
      if (isDenied(error)) world.onDenied(name, error.message);
    };
    const what = done instanceof Promise ? await world.during(done).catch(refused) : done;
    if (what === undefined) return;
    this.#acts.set(name, (this.#acts.get(name) ?? 0) + 1);
    this.#lastMs.set(name, world.scheduler.nowMs());
    this.#say(world, `* ${what}`);
  }

  /** The possible acts, repeated by weight. */
  #some(acts: Readonly<Record<string, Act>>): (readonly [string, Act])[] {
    return Object.entries(acts).flatMap((entry) => Array.from({ length: Math.max(0, this.#random(6) - 2) }, () => entry));
  }

  #later(world: World, mostMs: number, undo: () => void): void {
    const once = () => {
      if (this.#undo.delete(once)) undo();
    };
    this.#undo.add(once);
    world.scheduler.after(world.random(mostMs), once);
  }

  #heal(world: World): void {
    for (const undo of [...this.#undo]) undo();
    world.weather = FAIR;
    world.cutNodes.clear();
    for (const segment of world.segments.values()) {
      segment.quality = GOOD_LINKS;
      for (const node of world.nodes) segment.cutOff(node, false);
    }
    this.#say(world, '* everything is healed');
  }

  #say({ scheduler }: World, line: string): void {
    this.#settings.onLine?.(scheduler.nowMs(), line);
  }
}

function wakeUpsOf({ hasWakeOnLan }: World): (readonly [string, Act])[] {
  return hasWakeOnLan ? Array.from({ length: WAKE_UPS_SHARE }, () => Object.entries(WAKE_UPS)).flat() : [];
}
