/** Reads the report of a service. Resources that every host has must be readable; any other unreadable part becomes a note, and the rest is read. */
import { RedfishError, type RedfishErrorCode } from '../error/redfish-error.js';
import { SERVICE_ROOT } from '../http/service.js';
import { CollectedInfo } from '../report/collect-info.js';
import {
  type LogOwner,
  type SystemPart,
  toDeviceCollections,
  toDeviceFacts,
  toDriveLinks,
  toEntriesLinks,
  toManagerPart,
  toServicePart,
  toSystemPart,
} from '../report/host-parts.js';
import type { Facts, HostReport, LogEntry } from '../report/host-report.js';
import { mergeLogs } from '../report/log-entries.js';
import { driveFacts, ethernetFacts, memoryFacts, pcieFacts, processorFacts } from '../report/part-facts.js';
import type { RedfishResource } from '../resource/resource.js';
import { type ReadLink, readEach, readMembers } from './members.js';
import { readLog } from './read-log.js';

/** Failures of a single resource: the service itself answers, and accepts the credentials. */
const FAILURES_OF_A_PART: ReadonlySet<RedfishErrorCode> = new Set([
  'forbidden',
  'not-found',
  'not-allowed',
  'not-redfish',
  'precondition-failed',
  'redirected',
  'refused',
  'server-failed',
  'too-large',
  'unavailable',
]);

/** For a log, these mean that there is none to read, now and at the next poll; after other failures the entries are unknown. */
const NO_LOG: ReadonlySet<RedfishErrorCode> = new Set(['forbidden', 'not-found', 'not-allowed', 'too-large']);

export class Inspection {
  readonly #read: ReadLink;
  readonly #redact: (text: string) => string;
  readonly #info: CollectedInfo;
  readonly #missing = new Map<string, string>();

  /** @param redact - removes credentials from the report of the service. */
  constructor(read: ReadLink, redact: (text: string) => string) {
    this.#read = read;
    this.#redact = redact;
    this.#info = new CollectedInfo(redact);
  }

  /** @throws RedfishError if the service root, a manager or a computer system cannot be read. */
  async run(): Promise<HostReport> {
    const root = await this.#read(SERVICE_ROOT, toServicePart);
    if (root.managers === undefined && root.systems === undefined)
      throw new RedfishError(
        'not-redfish',
        `GET ${SERVICE_ROOT}: the answer names neither systems nor managers: is this a Redfish service?`,
      );
    const managers = await this.#collection(root.managers, toManagerPart);
    const systems = await this.#collection(root.systems, toSystemPart);
    this.#info.add('', root.facts);
    managers.forEach(({ facts }, index) => {
      this.#info.add(index === 0 ? '' : `Manager[${index}].`, facts);
    });
    for (const [index, system] of systems.entries()) await this.#system(system, index === 0 ? '' : `System[${index}].`);
    await this.#pcie(systems, root.chassis);
    const log = await this.#logs([...managers, ...systems]);
    this.#info.add('', { Incomplete: this.#describeMissing() });
    return { info: this.#info.info, log };
  }

  #collection<Result>(link: string | undefined, to: (member: RedfishResource) => Result): Promise<Result[]> {
    return link === undefined ? Promise.resolve([]) : readMembers(this.#read, link, to);
  }

  async #system(system: SystemPart, prefix: string): Promise<void> {
    this.#info.add(prefix, system.facts);
    await this.#members(`${prefix}Cpu`, system.processors, processorFacts);
    const memory = await this.#members(`${prefix}Memory`, system.memory, memoryFacts);
    if (memory !== undefined) this.#info.add(prefix, { MemoryChipsAccount: String(memory) });
    await this.#members(`${prefix}EthernetInterfaces`, system.ethernetInterfaces, ethernetFacts);
    await this.#storage(system, `${prefix}Storage`);
  }

  /** The number of members; undefined if unknown. */
  async #members(name: string, link: string | undefined, facts: (member: RedfishResource) => Facts): Promise<number | undefined> {
    if (link === undefined) return undefined;
    const members = await this.#part(name, () => readMembers(this.#read, link, facts));
    this.#info.addEach(name, members ?? []);
    return members?.length;
  }

  /** `Storage` with drives; a system without it has the older `SimpleStorage`, whose devices are not resources of their own. */
  async #storage({ storage, simpleStorage }: SystemPart, name: string): Promise<void> {
    const units = (await this.#part(name, () => this.#collection(storage, toDriveLinks))) ?? [];
    for (const [index, links] of units.entries()) {
      const drives = await this.#part(name, () => readEach(links, (link) => this.#read(link, driveFacts)));
      this.#info.addEach(`${name}[${index}].Device`, drives ?? []);
    }
    if (units.length > 0 || simpleStorage === undefined) return;
    const older = (await this.#part(name, () => this.#collection(simpleStorage, toDeviceFacts))) ?? [];
    older.forEach((devices, index) => {
      this.#info.addEach(`${name}[${index}].Device`, devices);
    });
  }

  /** The devices of the systems, otherwise those of the chassis. */
  async #pcie(systems: readonly SystemPart[], chassis: string | undefined): Promise<void> {
    const named = [...new Set(systems.flatMap(({ pcieDevices }) => pcieDevices))];
    const devices = await this.#part('PCIeDevices', async () => {
      if (named.length > 0) return readEach(named, (link) => this.#read(link, pcieFacts));
      const collections = new Set((await this.#collection(chassis, toDeviceCollections)).flat());
      return (await readEach([...collections], (link) => readMembers(this.#read, link, pcieFacts))).flat();
    });
    this.#info.addEach('PCIeDevices', devices ?? []);
  }

  async #logs(owners: readonly LogOwner[]): Promise<readonly LogEntry[] | undefined> {
    const collections = new Set(owners.map(({ logServices }) => logServices).filter((link) => link !== undefined));
    const logs: (readonly LogEntry[])[] = [];
    let isUnknown = false;
    const onFailure = ({ code }: RedfishError) => {
      isUnknown ||= !NO_LOG.has(code);
    };
    for (const collection of collections) {
      const services = await this.#part('Log', () => readMembers(this.#read, collection, toEntriesLinks), onFailure);
      for (const link of (services ?? []).flat()) {
        const entries = await this.#part('Log', () => readLog(this.#read, link, this.#redact), onFailure);
        if (entries !== undefined) logs.push(entries);
      }
    }
    return isUnknown || logs.length === 0 ? undefined : mergeLogs(logs);
  }

  async #part<Result>(
    name: string,
    work: () => Promise<Result>,
    onFailure: (error: RedfishError) => void = () => {},
  ): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RedfishError) || !FAILURES_OF_A_PART.has(error.code)) throw error;
      this.#missing.set(name, error.code);
      onFailure(error);
      return undefined;
    }
  }

  #describeMissing(): string | undefined {
    const parts = [...this.#missing].map(([name, code]) => `${name}: ${code}`);
    return parts.length === 0 ? undefined : parts.join(', ');
  }
}
