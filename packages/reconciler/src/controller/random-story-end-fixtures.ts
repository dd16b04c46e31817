/** The laws at the end of a random story, checked from the stored objects, without the controller's code. */
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import { isBeingDeleted, type KubernetesObject, readField, readList, readText } from '@vmdhcp/kube-runtime';
import { readRememberedInterfaces } from '../virtual-machine/remembered-interfaces.js';
import type { Running } from './controller-fixtures.js';
import { type Story, servingPools } from './random-story-state-fixtures.js';
import { expectedInterfaces, findDoubleOwners, other, type StoryFault } from './story-fixtures.js';

/** The violations in the stored objects. */
export function checkEnd({ running }: Pick<Story, 'running'>): StoryFault[] {
  const serving = servingPools(running);
  for (const [net, { spec }] of serving) if (readText(spec, 'ipv4Config', 'cidr') === 'nonsense') serving.set(net, BROKEN);
  const configs = [...running.cluster.networkConfigs.objects.values()];
  const machines = [...running.cluster.virtualMachines.objects.values()];
  return [
    ...configs.filter(isBeingDeleted).map(({ metadata }) => other(`${metadata.name} is still being deleted`)),
    ...machines.flatMap((machine) => checkMachine(running, machine)),
    ...[...serving].flatMap(([net, one]) => (one === BROKEN ? [] : checkPool(running, net, one))),
    ...configs.flatMap((config) => checkConfig(running, serving, config)),
    ...findDoubleOwners(running),
  ];
}

const BROKEN: KubernetesObject = { metadata: { name: 'broken' } };

interface Entry {
  readonly net: string;
  readonly owner: string;
}

function entriesOf({ spec }: KubernetesObject): Entry[] {
  return readList(spec, 'networkConfigs').map((entry) => ({
    net: readText(entry, 'networkName') ?? '',
    owner: readText(entry, 'macAddress') ?? '',
  }));
}

/** The config has exactly the interfaces with a known MAC address. */
function checkMachine(running: Running, machine: KubernetesObject): StoryFault[] {
  const { name } = machine.metadata;
  const expected = expectedInterfaces(running, machine);
  const config = running.networkConfig(name);
  const known = expected.filter(({ macAddress }) => macAddress !== undefined);
  if (config === undefined) return known.length === 0 ? [] : [other(`${name} has no vmnetcfg`)];
  const present = entriesOf(config);
  const isPresent = ({ network: net, macAddress }: (typeof expected)[number]) =>
    present.some((one) => one.net === net && (macAddress === undefined || one.owner === macAddress));
  const isInSync = known.every(isPresent) && present.length <= expected.length;
  return isInSync ? [] : [other(`${name} is not in sync`)];
}

/** Former MAC addresses of interfaces whose new MAC address belongs to another machine: they stay until the interface gets a unique one. */
function keptForOthers(running: Running, net: string): Set<string> {
  const configs = [...running.cluster.networkConfigs.objects.values()];
  const interfaces = configs.flatMap((config) =>
    [...readRememberedInterfaces(config).values()].map((one) => ({ ...one, config: config.metadata.name })),
  );
  const isShared = ({ config, macAddress }: (typeof interfaces)[number]) =>
    interfaces.some((other) => other.config !== config && other.macAddress === macAddress && other.networkName === net);
  return new Set(interfaces.filter((one) => one.networkName === net && isShared(one)).flatMap(({ replaces }) => replaces));
}

function isKeptForAnother(running: Running, { net, owner }: Entry): boolean {
  return keptForOthers(running, net).has(owner);
}

function checkPool(running: Running, net: string, { metadata, spec, status }: KubernetesObject): StoryFault[] {
  const reserved = new Set(readList(spec, 'ipv4Config', 'reservations').map((one) => readText(one, 'macAddress')));
  const claimed = new Set(
    [...running.cluster.networkConfigs.objects.values()]
      .filter((config) => readField(config.spec, 'paused') !== true)
      .flatMap(entriesOf)
      .filter((entry) => entry.net === net)
      .map(({ owner }) => owner),
  );
  const owners = Object.values(running.allocated(metadata.name));
  const kept = keptForOthers(running, net);
  const leaked = owners.filter((owner) => !claimed.has(owner) && !reserved.has(owner) && !kept.has(owner));
  const used = readField(status, 'ipv4', 'used');
  return [
    ...(new Set(owners).size === owners.length ? [] : [other(`${metadata.name}: a MAC address twice`)]),
    ...leaked.map((owner): StoryFault => ({ kind: 'leak', message: `${metadata.name}: ${owner} is leaked` })),
    ...(reserved.size > 0 || used === owners.length
      ? []
      : [other(`${metadata.name}: used is ${String(used)}, not ${owners.length}`)]),
  ];
}

function checkConfig(running: Running, serving: ReadonlyMap<string, KubernetesObject>, config: KubernetesObject): StoryFault[] {
  const entries = entriesOf(config);
  if (readField(config.spec, 'paused') === true || isBeingDeleted(config)) return [];
  if (entries.some(({ net }) => serving.get(net) === BROKEN)) return [];
  const { name } = config.metadata;
  const differing = entries.flatMap((entry) => {
    const [shown, has] = [shownOf(config, entry), addressOf(running, { config, serving }, entry)];
    return shown === has ? [] : [other(`${name} shows ${shown} for ${entry.net}, the pool ${has}`)];
  });
  // An interface that wants a particular address may have to wait for it, with another address or without.
  const isPinned = readList(config.spec, 'networkConfigs').some((entry) => readText(entry, 'ipAddress') !== undefined);
  return [...differing, ...(isPinned ? [] : checkLacking(running, { config, serving }))];
}

/** It has all addresses that it can have, or none, and reports that. */
function checkLacking(running: Running, place: Place): StoryFault[] {
  const { config, serving } = place;
  const { name } = config.metadata;
  const served = entriesOf(config).filter(({ net }) => serving.has(net));
  const lacking = served.filter((entry) => addressOf(running, place, entry) === undefined);
  const couldHave = lacking.filter(
    (entry) =>
      isFree(running, serving.get(entry.net)) && rivals(running, config, entry).length === 0 && !isKeptForAnother(running, entry),
  );
  const isAllocated = running
    .conditions('VirtualMachineNetworkConfig', name)
    .some((condition) => condition.startsWith('Allocated=True'));
  return [
    ...(lacking.length > 0 && couldHave.length === lacking.length
      ? [other(`${name} could have ${lacking.map(({ net }) => net).join()} and does not`)]
      : []),
    ...(served.length > 0 && isAllocated !== (lacking.length === 0)
      ? [other(`${name}: Allocated is ${isAllocated}, ${lacking.length} are lacking`)]
      : []),
  ];
}

interface Place {
  readonly config: KubernetesObject;
  readonly serving: ReadonlyMap<string, KubernetesObject>;
}

/**
 * The recorded address of an entry of this config, ignoring that of another machine with the same MAC address. An address that is kept for an interface
 * which had this MAC address may be the entry's, if it shows it, or not.
 */
function addressOf(running: Running, place: Place, entry: Entry): string | undefined {
  const one = place.serving.get(entry.net);
  if (one === undefined || isTaken(running, place, entry)) return undefined;
  if (shownOf(place.config, entry) === undefined && isKeptForAnother(running, entry)) return undefined;
  return Object.entries(running.allocated(one.metadata.name)).find(([, owner]) => owner === entry.owner)?.[0];
}

/** True if another config has the address of this MAC address. */
function isTaken(running: Running, { config }: Place, entry: Entry): boolean {
  return rivals(running, config, entry).some((one) => shownOf(one, entry) !== undefined);
}

/** Other configs with the same MAC address on the same network: the oldest of all has it, or waits for it. */
function rivals(running: Running, config: KubernetesObject, { net, owner }: Entry): KubernetesObject[] {
  return [...running.cluster.networkConfigs.objects.values()].filter(
    (one) => one !== config && entriesOf(one).some((entry) => net === entry.net && owner === entry.owner),
  );
}

/** The address that the status of a config shows. */
function shownOf({ status }: KubernetesObject, { net, owner }: Entry): string | undefined {
  const shown = readList(status, 'networkConfigs').find(
    (entry) => readText(entry, 'macAddress') === owner && readText(entry, 'networkName') === net,
  );
  return readText(shown, 'state') === 'Allocated' ? readText(shown, 'allocatedIPAddress') : undefined;
}

/** Computed from the range and the recorded addresses, not from the controller's `available`. */
function isFree(running: Running, pool: KubernetesObject = BROKEN): boolean {
  const [start, end] = ['start', 'end'].map((one) => parseIpv4Address(readText(pool.spec, 'ipv4Config', 'pool', one) ?? ''));
  if (start === undefined || end === undefined || readField(pool.spec, 'paused') === true) return false;
  const taken = Object.keys(running.allocated(pool.metadata.name)).map((text) => parseIpv4Address(text) ?? 0);
  return taken.filter((address) => address >= start && address <= end).length < end - start + 1;
}
