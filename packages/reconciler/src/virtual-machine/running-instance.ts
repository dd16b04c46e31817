/** Reads a KubeVirt VirtualMachineInstance: its current interfaces and their MAC addresses. */
import { type MacAddress, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import {
  isOwnedByAnother,
  isRecord,
  type KubernetesObject,
  parseTime,
  readConditions,
  readField,
  readList,
  readText,
} from '@vmdhcp/kube-runtime';
import { projectBinding } from './interface-binding.js';

/** A live migration. */
interface Migration {
  readonly uid: string;
  readonly hasSucceeded: boolean;
  /** Milliseconds since 1970; undefined while it is under way. */
  readonly endedAtMs: number | undefined;
}

/** An instance that runs, or is starting. */
export interface RunningInstance {
  /** In the form of a VirtualMachine's `spec.template.spec`. */
  readonly spec: unknown;
  /** By interface name: the MAC address that the hypervisor reports, otherwise the one in the spec. */
  readonly macAddresses: ReadonlyMap<string, MacAddress>;
  readonly uid: string;
  /** Its last migration to another pod, which may be under way; undefined if there was none. */
  readonly migration?: Migration;
  /** True if KubeVirt says that its pod does not have what it asks for, as after a change of its network. */
  readonly needsMigration: boolean;
  /** Since when it runs, RFC 3339; undefined if it is starting, paused, or not known. */
  readonly runningSince?: string;
}

/** The relevant parts of a VirtualMachineInstance: the whole object is large, and changes with every heartbeat of its node. */
export function projectInstance({ apiVersion, kind, metadata, spec, status }: KubernetesObject): KubernetesObject {
  const { name, ownerReferences } = metadata;
  const running = readList(status, 'phaseTransitionTimestamps')
    .filter((entry) => readText(entry, 'phase') === 'Running')
    .map((entry) => pick(entry, ['phase', 'phaseTransitionTimestamp']));
  return {
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
    metadata: {
      name,
      ...pick(metadata, ['namespace', 'uid', 'resourceVersion', 'deletionTimestamp']),
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
    ...(isRecord(readField(spec, 'domain')) && { spec: projectSpec(spec) }),
    status: {
      ...pick(status, ['phase']),
      ...(running.length > 0 && { phaseTransitionTimestamps: running }),
      ...projectConditions(status),
      ...projectMigration(readField(status, 'migrationState')),
      interfaces: readList(status, 'interfaces')
        .filter(isNamed)
        .map((entry) => pick(entry, ['name', 'mac', 'infoSource'])),
    },
  };
}

function projectMigration(state: unknown): { readonly migrationState?: unknown } {
  const migrationUid = readText(state, 'migrationUid');
  if (migrationUid === undefined) return {};
  const [completed, failed] = [readField(state, 'completed') === true, readField(state, 'failed') === true];
  return { migrationState: { migrationUid, completed, failed, ...pick(state, ['endTimestamp']) } };
}

/** Interfaces with their bindings, and their networks, of a `spec` of an instance or of the template of a virtual machine. */
export function projectSpec(spec: unknown): unknown {
  const interfaces = readList(spec, 'domain', 'devices', 'interfaces').filter(isNamed);
  const hasNoImplicitOne = readField(spec, 'domain', 'devices', 'autoattachPodInterface') === false;
  return {
    domain: {
      devices: {
        ...(hasNoImplicitOne && { autoattachPodInterface: false }),
        interfaces: interfaces.map((entry) => ({ ...pick(entry, ['name', 'macAddress']), ...projectBinding(entry) })),
      },
    },
    networks: readList(spec, 'networks')
      .filter(isNamed)
      .map((entry) => {
        const networkName = readText(entry, 'multus', 'networkName');
        return { ...pick(entry, ['name']), ...(networkName !== undefined && { multus: { networkName } }) };
      }),
  };
}

const PAUSED = { type: 'Paused', status: 'True' } as const;

/** Source: KubeVirt, `VirtualMachineInstanceMigrationRequired`. False means that it will be required soon; absent, that it is not. */
const MIGRATION_REQUIRED = { type: 'MigrationRequired', status: 'True' } as const;
const MIGRATION_PENDING = { type: 'MigrationRequired', status: 'False' } as const;
const CONDITIONS = [PAUSED, MIGRATION_REQUIRED, MIGRATION_PENDING];

function projectConditions(status: unknown): { readonly conditions?: unknown } {
  const conditions = CONDITIONS.filter((one) => hasCondition(status, one));
  return conditions.length === 0 ? {} : { conditions };
}

function hasCondition(status: unknown, wanted: { readonly type: string; readonly status: string }): boolean {
  return readConditions(status).some(({ type, status: state }) => type === wanted.type && state === wanted.status);
}

function needsMigration(status: unknown): boolean {
  return hasCondition(status, MIGRATION_REQUIRED) || hasCondition(status, MIGRATION_PENDING);
}

function isPaused(status: unknown): boolean {
  return hasCondition(status, PAUSED);
}

function isNamed(entry: unknown): boolean {
  return readText(entry, 'name') !== undefined;
}

export function pick(value: unknown, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = readText(value, name);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
}

const ENDED: ReadonlySet<string> = new Set(['Succeeded', 'Failed']);

/**
 * The interfaces of a running virtual machine; undefined if it does not run. An instance that is being deleted counts until it has
 * ended: until then it uses its addresses. An instance of another virtual machine of the same name does not count. Never throws.
 */
export function readRunningInstance(
  virtualMachine: KubernetesObject,
  instance: KubernetesObject | undefined,
): RunningInstance | undefined {
  if (instance === undefined || hasEnded(instance)) return undefined;
  if (!isRecord(instance.spec) || isOwnedByAnother(instance, { kind: 'VirtualMachine', uid: virtualMachine.metadata.uid }))
    return undefined;
  const runningSince = readText(readList(instance.status, 'phaseTransitionTimestamps')[0], 'phaseTransitionTimestamp');
  return {
    ...(runningSince !== undefined && !isPaused(instance.status) && { runningSince }),
    uid: instance.metadata.uid ?? '',
    ...readMigration(readField(instance.status, 'migrationState')),
    needsMigration: needsMigration(instance.status),
    spec: instance.spec,
    macAddresses: new Map([
      ...macAddresses(readList(instance.spec, 'domain', 'devices', 'interfaces'), 'macAddress'),
      ...macAddresses(readList(instance.status, 'interfaces').filter(isOfHypervisor), 'mac'),
    ]),
  };
}

function readMigration(state: unknown): Pick<RunningInstance, 'migration'> {
  const uid = readText(state, 'migrationUid');
  if (uid === undefined) return {};
  const isOver = readField(state, 'completed') === true || readField(state, 'failed') === true;
  const endedAtMs = isOver ? parseTime(readText(state, 'endTimestamp') ?? '') || 0 : undefined;
  return { migration: { uid, hasSucceeded: isOver && readField(state, 'failed') !== true, endedAtMs } };
}

function hasEnded({ status }: KubernetesObject): boolean {
  return ENDED.has(readText(status, 'phase') ?? '');
}

/** Values of a VirtualMachine's `status.printableStatus` by which KubeVirt reports that its VirtualMachineInstance has ended. */
const ENDED_STATUSES: ReadonlySet<string> = new Set(['Stopped', 'CrashLoopBackOff']);

/**
 * True if the virtual machine reports that it has an instance, and the known one (undefined: none) is not that one.
 * `status.created` is true as long as there is any VirtualMachineInstance, also one that has ended; so an instance that has ended
 * is that one only if the virtual machine does not report anything else. Never throws.
 */
export function hasUnseenInstance({ status }: KubernetesObject, instance: KubernetesObject | undefined): boolean {
  if (readField(status, 'created') !== true) return false;
  const isTheEndedOne =
    instance !== undefined && hasEnded(instance) && ENDED_STATUSES.has(readText(status, 'printableStatus') ?? '');
  return !isTheEndedOne;
}

/** The guest operating system controls the reports of a guest agent. */
function isOfHypervisor(entry: unknown): boolean {
  return readText(entry, 'infoSource') !== 'guest-agent';
}

function macAddresses(entries: readonly unknown[], field: string): [string, MacAddress][] {
  return entries.flatMap((entry): [string, MacAddress][] => {
    const name = readText(entry, 'name');
    const macAddress = parseMacAddress(readText(entry, field) ?? '');
    return name === undefined || macAddress === undefined ? [] : [[name, macAddress]];
  });
}

/** True if both have the same interfaces and phase, whatever their versions. */
export function hasSameInterfaces(one: KubernetesObject, other: KubernetesObject): boolean {
  return describe(one) === describe(other);
}

function describe({ metadata, spec, status }: KubernetesObject): string {
  const interfaces = readList(status, 'interfaces').map((entry) => [
    readText(entry, 'name'),
    readText(entry, 'mac'),
    isOfHypervisor(entry),
  ]);
  const { migration } = readMigration(readField(status, 'migrationState'));
  const moves = [migration, needsMigration(status)];
  return JSON.stringify([metadata.uid, metadata.ownerReferences, spec, hasEnded({ metadata, status }), interfaces, moves]);
}
