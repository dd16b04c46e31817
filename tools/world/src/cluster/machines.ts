/** The parts of KubeVirt that matter for DHCP: machines, their instances, and the guests that run in them. */
import { STATIC_IP_ANNOTATION_PREFIX } from '@vmdhcp/ippool-api';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { JsonObject, KubeSimulator } from '@vmdhcp/kube-simulator';
import { type ClientHabits, DhcpClient } from '../guests/dhcp-client.js';
import { Dhcpv6Client } from '../guests/dhcpv6-client.js';
import type { Segment } from '../network/segment.js';
import type { Scheduler } from '../time/scheduler.js';

export const NAMESPACE = 'default';
export const IPPOOLS = { group: 'network.harvesterhci.io', resource: 'ippools', namespace: NAMESPACE };
export const CONFIGS = { group: 'network.harvesterhci.io', resource: 'virtualmachinenetworkconfigs', namespace: NAMESPACE };
const MACHINES = { group: 'kubevirt.io', resource: 'virtualmachines', namespace: NAMESPACE };
const INSTANCES = { group: 'kubevirt.io', resource: 'virtualmachineinstances', namespace: NAMESPACE };

export interface InterfaceSettings {
  readonly name: string;
  /** `namespace/name`. */
  readonly network: string;
  /** Undefined if KubeVirt chooses one for each instance. */
  readonly macAddress: string | undefined;
  readonly pin?: string;
}

export interface MachineSettings {
  readonly name: string;
  readonly interfaces: readonly InterfaceSettings[];
  readonly habits: ClientHabits;
  /** Default: Always. */
  readonly runStrategy?: RunStrategy;
  /** True if the WolConfig allows it. */
  readonly mayBeWoken?: boolean;
}

/** Source: KubeVirt, `VirtualMachineRunStrategy`. */
export type RunStrategy = 'Always' | 'Halted' | 'Manual';

/** A virtual machine that exists. */
export interface WorldMachine {
  readonly name: string;
  readonly runStrategy: RunStrategy;
  readonly mayBeWoken: boolean;
  /** When its interfaces were given. */
  changedAtMs: number;
  /** True from a start request until its guests run. */
  isStarting: boolean;
  /** The interfaces of the template; a running instance may have others. */
  interfaces: readonly InterfaceSettings[];
  readonly habits: ClientHabits;
  node: string;
  /** One for each interface, while an instance runs. */
  guests: readonly GuestOfMachine[];
  /** The MAC addresses of its last instance, in the order of its interfaces. */
  lastMacAddresses: readonly string[];
  /** All that its interfaces have ever had. */
  readonly everyMacAddress: Set<string>;
  readonly uid: string;
  /** Networks that it was moved from, on which its address may be recorded until then. */
  readonly left: LeftNetwork[];
}

interface LeftNetwork {
  readonly network: string;
  readonly macAddress: string;
  untilMs: number;
}

export interface GuestOfMachine {
  readonly network: string;
  readonly pin: string | undefined;
  readonly client: DhcpClient;
  /** Undefined if it has IPv4 alone. */
  readonly ipv6: Dhcpv6Client | undefined;
}

export interface MachinesSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly simulator: KubeSimulator;
  readonly segments: ReadonlyMap<string, Segment>;
  readonly nodes: readonly string[];
  readonly hasIpv6: boolean;
  readonly pools: readonly { readonly key: string; readonly nodes: readonly string[] }[];
  /** A start request has arrived at KubeVirt. */
  readonly onStartRequest: (name: string, isTaken: boolean) => void;
}

export const WAKE_LABELS = { 'example.org/wake': 'yes' };
const START_MS = 2_000;
/** KubeVirt says that a migration is required this late, at most. */
const REQUIRE_MS = 5_000;
/** For an hour after a move that nobody saw, and a while. */
const LONGEST_LEAVE_MS = 3_900_000;

export class Machines {
  readonly #settings: MachinesSettings;
  readonly #machines = new Map<string, WorldMachine>();
  /** The guests' operating systems, which outlive instances: their disks remember leases. */
  readonly #clients = new Map<string, Omit<GuestOfMachine, 'pin'>>();
  #chosenMacs = 0;
  #migrations = 0;

  constructor(settings: MachinesSettings) {
    this.#settings = settings;
  }

  get all(): readonly WorldMachine[] {
    return [...this.#machines.values()];
  }

  /** Creates it, and starts it. */
  async create(settings: MachineSettings): Promise<WorldMachine> {
    const { name, interfaces, habits, runStrategy = 'Always', mayBeWoken = false } = settings;
    const pins = interfaces.filter(({ pin }) => pin !== undefined);
    const annotations = Object.fromEntries(pins.map(({ name: nic, pin }) => [`${STATIC_IP_ANNOTATION_PREFIX}${nic}`, pin ?? '']));
    const { client } = this.#settings.simulator;
    const spec = { runStrategy, template: { spec: templateOf(interfaces) } };
    const labels = mayBeWoken ? WAKE_LABELS : {};
    const created = await client.create(MACHINES, { metadata: { name, annotations, labels }, spec });
    const machine: WorldMachine = {
      ...{ name, interfaces, habits, runStrategy, mayBeWoken },
      changedAtMs: this.#settings.scheduler.nowMs(),
      isStarting: false,
      node: this.#someNode(interfaces),
      guests: [],
      lastMacAddresses: [],
      everyMacAddress: new Set(interfaces.flatMap(({ macAddress }) => macAddress ?? [])),
      uid: created.metadata.uid ?? '',
      left: [],
    };
    this.#machines.set(name, machine);
    await this.start(name);
    return machine;
  }

  async start(name: string): Promise<void> {
    const machine = this.#machines.get(name);
    if (machine === undefined || machine.guests.length > 0) return;
    const { client } = this.#settings.simulator;
    const macAddresses = machine.interfaces.map(({ macAddress }) => macAddress ?? this.#chooseMac());
    machine.node = this.#someNode(machine.interfaces);
    machine.lastMacAddresses = macAddresses;
    for (const macAddress of macAddresses) machine.everyMacAddress.add(macAddress);
    await client.create(INSTANCES, {
      metadata: { name, ownerReferences: [ownerOf(machine)] },
      spec: templateOf(machine.interfaces),
      status: {
        phase: 'Running',
        phaseTransitionTimestamps: [{ phase: 'Running', phaseTransitionTimestamp: `${new Date().toISOString().slice(0, 19)}Z` }],
        nodeName: machine.node,
        interfaces: machine.interfaces.map(({ name: nic }, index) => ({
          name: nic,
          mac: macAddresses[index] ?? '',
          infoSource: 'domain',
        })),
      },
    });
    await this.#report(name, true);
    // It was deleted meanwhile.
    if (this.#machines.get(name) !== machine) {
      await client.delete({ ...INSTANCES, name }).catch(() => undefined);
      return;
    }
    machine.guests = machine.interfaces.map(({ network, pin }, index) => ({
      ...this.#clientsOf(machine, network, macAddresses[index] as string),
      pin,
    }));
    machine.isStarting = false;
    for (const guest of machine.guests) startGuest(guest);
  }

  /** Shuts it down. KubeVirt, which changed `Halted` to `Always` at its start, changes it back to `Halted`. */
  async shutDown(name: string): Promise<void> {
    await this.stop(name);
    const machine = this.#machines.get(name);
    if (machine !== undefined) await this.#setRunStrategy(machine, machine.runStrategy);
  }

  /** KubeVirt's answer to a start request. Source: virt-api, `StartVMRequestHandler`. */
  async requestStart(name: string): Promise<{ readonly status: number; readonly message: string }> {
    const machine = this.#machines.get(name);
    if (machine === undefined) return { status: 404, message: `virtualmachine ${name} not found` };
    const isTaken = machine.runStrategy !== 'Always' && !machine.isStarting && machine.guests.length === 0;
    this.#settings.onStartRequest(name, isTaken);
    if (!isTaken) return { status: 409, message: 'VM is already running' };
    machine.isStarting = true;
    if (machine.runStrategy === 'Halted') await this.#setRunStrategy(machine, 'Always');
    else await this.#patchStatus(name, { stateChangeRequests: [{ action: 'Start' }] });
    const { scheduler, random } = this.#settings;
    scheduler.after(random(START_MS), () => void this.start(name).catch(() => undefined));
    return { status: 202, message: '' };
  }

  async stop(name: string): Promise<void> {
    const machine = this.#machines.get(name);
    if (machine === undefined || machine.guests.length === 0) return;
    for (const { client, ipv6 } of machine.guests) {
      client.stop();
      ipv6?.stop();
    }
    machine.guests = [];
    machine.left.length = 0;
    await this.#settings.simulator.client.delete({ ...INSTANCES, name }).catch(() => undefined);
    await this.#report(name, false);
  }

  /** Changes its template; a running instance stays as it is. */
  async change(name: string, interfaces: readonly InterfaceSettings[]): Promise<void> {
    const machine = this.#machines.get(name);
    if (machine === undefined) return;
    const body = { spec: { template: { spec: templateOf(interfaces) } } };
    await this.#settings.simulator.client.patch({ ...MACHINES, name }, { type: 'merge', body });
    machine.interfaces = interfaces;
    for (const { macAddress } of interfaces) if (macAddress !== undefined) machine.everyMacAddress.add(macAddress);
    machine.changedAtMs = this.#settings.scheduler.nowMs();
    if (machine.guests.length === 0) machine.lastMacAddresses = [];
  }

  async delete(name: string): Promise<void> {
    await this.stop(name);
    const machine = this.#machines.get(name);
    if (machine === undefined) return;
    this.#machines.delete(name);
    for (const [key] of this.#clients) if (key.startsWith(`${machine.uid} `)) this.#clients.delete(key);
    await this.#settings.simulator.client
      .delete({ ...MACHINES, name }, { propagationPolicy: 'Background' })
      .catch(() => undefined);
  }

  /** Moves its guest to another node, like a live migration. */
  migrate(name: string): void {
    const machine = this.#machines.get(name);
    const networks = machine?.guests.map(({ network }) => ({ network })) ?? [];
    if (machine !== undefined) machine.node = this.#someNode(networks);
  }

  /** True if KubeVirt would move it to another network while it runs. */
  canChangeNetwork({ guests, interfaces }: WorldMachine): boolean {
    const [[guest, ...others], [card]] = [guests, interfaces];
    const isAsWritten = guest?.network === card?.network && guest?.client.macAddress === card?.macAddress;
    return guest !== undefined && others.length === 0 && guest.pin === undefined && isAsWritten;
  }

  /** Gives its instance another network. Its guest is there only after `finishMove`. */
  async beginMove(machine: WorldMachine, network: string): Promise<void> {
    const interfaces = machine.interfaces.map((card) => ({ ...card, network }));
    const macAddress = machine.guests[0]?.client.macAddress ?? '';
    machine.left.push({ network: machine.guests[0]?.network ?? '', macAddress, untilMs: Number.POSITIVE_INFINITY });
    await this.change(machine.name, interfaces);
    await this.#patchInstance(machine.name, { spec: { networks: templateOf(interfaces)['networks'] ?? [] } });
    const { scheduler, random } = this.#settings;
    const conditions = [{ type: 'MigrationRequired', status: 'True' }];
    const before = machine.guests;
    scheduler.after(random(REQUIRE_MS), () => {
      if (machine.guests === before) void this.#patchInstance(machine.name, { status: { conditions } });
    });
  }

  /** Moves the guests to a node, and to this network. @param before - nothing happens if others run since. */
  async finishMove(machine: WorldMachine, network: string, before: WorldMachine['guests']): Promise<void> {
    const [guest] = machine.guests;
    if (machine.guests !== before || guest === undefined) return;
    guest.client.unplug();
    guest.ipv6?.unplug();
    machine.node = this.#someNode([{ network }]);
    const moved = { ...this.#clientsOf(machine, network, guest.client.macAddress), pin: undefined };
    machine.guests = [moved];
    startGuest(moved);
    for (const one of machine.left) one.untilMs = this.#settings.scheduler.nowMs() + LONGEST_LEAVE_MS;
    const endTimestamp = `${new Date().toISOString().slice(0, 19)}Z`;
    const migrationState = { migrationUid: `migration-${++this.#migrations}`, completed: true, endTimestamp };
    await this.#patchInstance(machine.name, { status: { conditions: [], migrationState } });
  }

  async #patchInstance(name: string, body: JsonObject): Promise<void> {
    await this.#settings.simulator.client.patch({ ...INSTANCES, name }, { type: 'merge', body }).catch(() => undefined);
  }

  #clientsOf(machine: WorldMachine, network: string, macAddress: string): Omit<GuestOfMachine, 'pin'> {
    const key = `${machine.uid} ${network} ${macAddress}`;
    const { scheduler, random, segments, hasIpv6 } = this.#settings;
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const { habits } = machine;
    const segment = segments.get(network) as Segment;
    const card = { scheduler, random, macAddress, segment, node: () => machine.node };
    const clientIdentifier =
      habits.clientIdentifier ?? Uint8Array.of(0, 3, 0, 1, ...Buffer.from(macAddress.replaceAll(':', ''), 'hex'));
    const ipv6 = hasIpv6 && !habits.isBehindRelay ? new Dhcpv6Client({ ...card, ...habits, clientIdentifier }) : undefined;
    const made = { network, client: new DhcpClient({ ...card, habits }), ipv6 };
    this.#clients.set(key, made);
    return made;
  }

  async #report(name: string, created: boolean): Promise<void> {
    const printableStatus = created ? 'Running' : 'Stopped';
    await this.#patchStatus(name, { created, ready: created, printableStatus, stateChangeRequests: null });
  }

  async #patchStatus(name: string, status: JsonObject): Promise<void> {
    await this.#settings.simulator.client
      .patch({ ...MACHINES, name, subresource: 'status' }, { type: 'merge', body: { status } })
      .catch(() => undefined);
  }

  async #setRunStrategy({ name }: WorldMachine, runStrategy: RunStrategy): Promise<void> {
    const body = { spec: { runStrategy } };
    await this.#settings.simulator.client.patch({ ...MACHINES, name }, { type: 'merge', body }).catch(() => undefined);
  }

  /** A node that has all of these networks. */
  #someNode(interfaces: readonly { readonly network: string }[]): string {
    const { nodes, pools, random } = this.#settings;
    const hasAll = (node: string) =>
      interfaces.every(({ network }) => pools.find(({ key }) => key === network)?.nodes.includes(node) === true);
    const fitting = nodes.filter(hasAll);
    return fitting[random(Math.max(1, fitting.length))] ?? (nodes[0] as string);
  }

  #chooseMac(): string {
    const number = ++this.#chosenMacs;
    return `52:54:00:ff:${octet(number >> 8)}:${octet(number & 255)}`;
  }
}

function startGuest({ client, ipv6 }: GuestOfMachine): void {
  client.start();
  ipv6?.start();
}

function ownerOf({ name, uid }: WorldMachine): JsonObject {
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name, uid, controller: true, blockOwnerDeletion: true };
}

function templateOf(interfaces: readonly InterfaceSettings[]): JsonObject {
  const cards = interfaces.map(({ name, macAddress }) => ({ name, bridge: {}, ...(macAddress !== undefined && { macAddress }) }));
  return {
    domain: { devices: { interfaces: cards } },
    networks: interfaces.map(({ name, network }) => ({ name, multus: { networkName: network } })),
  };
}

export function octet(value: number): string {
  return value.toString(16).padStart(2, '0');
}
