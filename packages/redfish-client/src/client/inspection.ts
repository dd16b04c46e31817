/** Reads what a service reports. What every host has must be readable; a part that is not becomes a note, and the rest is read. */
import { RedfishError, type RedfishErrorCode } from '../error/redfish-error.js';
import { SERVICE_ROOT } from '../http/service.js';
import { CollectedInfo } from '../report/collect-info.js';
import type { Facts, HostReport, LogEntry } from '../report/host-report.js';
import { mergeLogs } from '../report/log-entries.js';
import {
  driveFacts,
  ethernetFacts,
  linksOf,
  managerFacts,
  memoryFacts,
  pcieFacts,
  processorFacts,
  serviceFacts,
  simpleStorageDevices,
  systemFacts,
} from '../report/part-facts.js';
import { isResource, linkAt, listAt, type Resource, statusAt, textAt } from '../resource/resource.js';
import { type ReadLink, readEach, readMembers } from './members.js';
import { readLog } from './read-log.js';

/** Failures of one resource: the service itself answers, and accepts the credentials. */
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

/** Of a log, these mean that there is none to read, now and at the next poll; after others the entries are unknown. */
const NO_LOG: ReadonlySet<RedfishErrorCode> = new Set(['forbidden', 'not-found', 'not-allowed', 'too-large']);

export class Inspection {
  readonly #read: ReadLink;
  readonly #info = new CollectedInfo();
  readonly #missing = new Map<string, string>();

  constructor(read: ReadLink) {
    this.#read = read;
  }

  /** @throws RedfishError if the service root, a manager or a computer system cannot be read. */
  async run(): Promise<HostReport> {
    const root = await this.#read(SERVICE_ROOT);
    const [managersLink, systemsLink] = [linkAt(root, 'Managers'), linkAt(root, 'Systems')];
    if (managersLink === undefined && systemsLink === undefined)
      throw new RedfishError(
        'not-redfish',
        `GET ${SERVICE_ROOT}: the answer names neither systems nor managers: is this a Redfish service?`,
      );
    const managers = await this.#collection(managersLink);
    const systems = await this.#collection(systemsLink);
    this.#info.add('', serviceFacts(root));
    managers.forEach((manager, index) => {
      this.#info.add(index === 0 ? '' : `Manager[${index}].`, managerFacts(manager));
    });
    for (const [index, system] of systems.entries()) await this.#system(system, index === 0 ? '' : `System[${index}].`);
    await this.#pcie(systems, linkAt(root, 'Chassis'));
    const log = await this.#logs([...managers, ...systems]);
    this.#info.add('', { Incomplete: this.#describeMissing() });
    return { info: this.#info.info, log };
  }

  #collection(link: string | undefined): Promise<Resource[]> {
    return link === undefined ? Promise.resolve([]) : readMembers(this.#read, link);
  }

  async #system(system: Resource, prefix: string): Promise<void> {
    this.#info.add(prefix, systemFacts(system));
    await this.#members(`${prefix}Cpu`, linkAt(system, 'Processors'), processorFacts);
    const memory = await this.#members(`${prefix}Memory`, linkAt(system, 'Memory'), memoryFacts);
    if (memory !== undefined) this.#info.add(prefix, { MemoryChipsAccount: String(memory) });
    await this.#members(`${prefix}EthernetInterfaces`, linkAt(system, 'EthernetInterfaces'), ethernetFacts);
    await this.#storage(system, `${prefix}Storage`);
  }

  /** How many members there are; undefined: unknown. */
  async #members(name: string, link: string | undefined, facts: (member: Resource) => Facts): Promise<number | undefined> {
    if (link === undefined) return undefined;
    const members = await this.#part(name, () => readMembers(this.#read, link));
    this.#info.addEach(name, (members ?? []).map(facts));
    return members?.length;
  }

  /** `Storage` with drives; a system without it has the older `SimpleStorage`, whose devices are no resources. */
  async #storage(system: Resource, name: string): Promise<void> {
    const [link, simple] = [linkAt(system, 'Storage'), linkAt(system, 'SimpleStorage')];
    const units = (await this.#part(name, () => this.#collection(link))) ?? [];
    for (const [index, unit] of units.entries()) {
      const drives = await this.#part(name, () => readEach(linksOf(listAt(unit, 'Drives')), this.#read));
      this.#info.addEach(`${name}[${index}].Device`, (drives ?? []).map(driveFacts));
    }
    if (units.length > 0 || simple === undefined) return;
    const older = (await this.#part(name, () => this.#collection(simple))) ?? [];
    older.forEach((unit, index) => {
      this.#info.addEach(`${name}[${index}].Device`, simpleStorageDevices(unit).filter(isResource).map(driveFacts));
    });
  }

  /** Devices that the systems name, else those of the chassis. */
  async #pcie(systems: readonly Resource[], chassisLink: string | undefined): Promise<void> {
    const named = [...new Set(systems.flatMap((system) => linksOf(listAt(system, 'PCIeDevices'))))];
    const devices = await this.#part('PCIeDevices', async () => {
      if (named.length > 0) return readEach(named, this.#read);
      const chassis = await this.#collection(chassisLink);
      const collections = [...new Set(chassis.map((one) => linkAt(one, 'PCIeDevices')).filter((link) => link !== undefined))];
      return (await readEach(collections, (link) => readMembers(this.#read, link))).flat();
    });
    this.#info.addEach('PCIeDevices', (devices ?? []).map(pcieFacts));
  }

  async #logs(owners: readonly Resource[]): Promise<readonly LogEntry[] | undefined> {
    const collections = [...new Set(owners.map((owner) => linkAt(owner, 'LogServices')).filter((link) => link !== undefined))];
    const logs: (readonly LogEntry[])[] = [];
    let isUnknown = false;
    const onFailure = ({ code }: RedfishError) => {
      isUnknown ||= !NO_LOG.has(code);
    };
    for (const collection of collections) {
      const services = (await this.#part('Log', () => readMembers(this.#read, collection), onFailure)) ?? [];
      for (const service of services.filter((one) => statusAt(one, 'State') !== 'Disabled')) {
        const entries = await this.#part('Log', () => this.#entries(service), onFailure);
        if (entries !== undefined) logs.push(entries);
      }
    }
    return isUnknown || logs.length === 0 ? undefined : mergeLogs(logs);
  }

  #entries(service: Resource): Promise<LogEntry[]> {
    const link = linkAt(service, 'Entries') ?? textAt(service, 'Entries');
    return link === undefined ? Promise.resolve([]) : readLog(this.#read, link);
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
