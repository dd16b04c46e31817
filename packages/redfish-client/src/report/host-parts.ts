/** The parts of a resource that a poll needs: its facts and its links. Nothing else stays in memory. */
import { linkAt, listAt, type RedfishResource, statusAt, textAt } from '../resource/resource.js';
import type { Facts } from './host-report.js';
import { driveFacts, linksOf, managerFacts, serviceFacts, simpleStorageDevices, systemFacts } from './part-facts.js';

/** A resource with logs. */
export interface LogOwner {
  readonly logServices: string | undefined;
}

export interface ManagerPart extends LogOwner {
  readonly facts: Facts;
}

export interface SystemPart extends LogOwner {
  readonly facts: Facts;
  readonly processors: string | undefined;
  readonly memory: string | undefined;
  readonly ethernetInterfaces: string | undefined;
  readonly storage: string | undefined;
  readonly simpleStorage: string | undefined;
  readonly pcieDevices: readonly string[];
}

export function toServicePart(root: RedfishResource) {
  return {
    facts: serviceFacts(root),
    managers: linkAt(root, 'Managers'),
    systems: linkAt(root, 'Systems'),
    chassis: linkAt(root, 'Chassis'),
  };
}

export function toManagerPart(manager: RedfishResource): ManagerPart {
  return { facts: managerFacts(manager), logServices: linkAt(manager, 'LogServices') };
}

export function toSystemPart(system: RedfishResource): SystemPart {
  return {
    facts: systemFacts(system),
    logServices: linkAt(system, 'LogServices'),
    processors: linkAt(system, 'Processors'),
    memory: linkAt(system, 'Memory'),
    ethernetInterfaces: linkAt(system, 'EthernetInterfaces'),
    storage: linkAt(system, 'Storage'),
    simpleStorage: linkAt(system, 'SimpleStorage'),
    pcieDevices: linksOf(listAt(system, 'PCIeDevices')),
  };
}

/** The drives of a unit of storage. */
export function toDriveLinks(unit: RedfishResource): readonly string[] {
  return linksOf(listAt(unit, 'Drives'));
}

/** The devices of the older SimpleStorage, which it contains itself. */
export function toDeviceFacts(unit: RedfishResource): readonly Facts[] {
  return simpleStorageDevices(unit).map(driveFacts);
}

/** The links to the devices of a chassis: none or one. */
export function toDeviceCollections(chassis: RedfishResource): readonly string[] {
  return linksOf([chassis['PCIeDevices']]);
}

/** The entries of a log: none or one link. */
export function toEntriesLinks(service: RedfishResource): readonly string[] {
  const entries = linkAt(service, 'Entries') ?? textAt(service, 'Entries');
  return entries === undefined || statusAt(service, 'State') === 'Disabled' ? [] : [entries];
}
