/** The facts that each kind of resource adds to the information about a host. */
import { isResource, linkAt, listAt, numberAt, type RedfishResource, statusAt, textAt, valueAt } from '../resource/resource.js';
import type { Facts } from './host-report.js';

/** Facts of the service root. */
export function serviceFacts(root: RedfishResource): Facts {
  return { RedfishVersion: textAt(root, 'RedfishVersion'), Vendor: textAt(root, 'Vendor') };
}

/** Facts of a manager, the management controller itself. */
export function managerFacts(manager: RedfishResource): Facts {
  return {
    BmcFirmwareVersion: textAt(manager, 'FirmwareVersion'),
    BmcModel: textAt(manager, 'Model'),
    BmcStatus: statusAt(manager, 'Health'),
  };
}

/** Facts of a computer system. The predecessor's misspelling of two keys is kept beside the right one, for its readers. */
export function systemFacts(system: RedfishResource): Facts {
  const [bios, health] = [textAt(system, 'BiosVersion'), statusAt(system, 'Health')];
  return {
    BiosVersion: bios,
    BiosVerison: bios,
    HostName: textAt(system, 'HostName'),
    Manufacturer: textAt(system, 'Manufacturer'),
    Model: textAt(system, 'Model'),
    SerialNumber: textAt(system, 'SerialNumber'),
    PowerState: textAt(system, 'PowerState'),
    SystemStatus: health,
    SyatemStatus: health,
    CpuCount: whole(numberAt(system, 'ProcessorSummary', 'Count')),
    CpuPhysicalCore: whole(numberAt(system, 'ProcessorSummary', 'CoreCount')),
    CpuLogicalCore: whole(numberAt(system, 'ProcessorSummary', 'LogicalProcessorCount')),
    CpuModel: textAt(system, 'ProcessorSummary', 'Model'),
    CpuStatus: statusAt(valueAt(system, 'ProcessorSummary'), 'Health'),
    MemoryTotalGiB: decimals(numberAt(system, 'MemorySummary', 'TotalSystemMemoryGiB')),
    MemoryStatus: statusAt(valueAt(system, 'MemorySummary'), 'Health'),
  };
}

export function processorFacts(processor: RedfishResource): Facts {
  return {
    Architecture: textAt(processor, 'ProcessorArchitecture'),
    Manufacturer: textAt(processor, 'Manufacturer'),
    Model: textAt(processor, 'Model'),
    MaxSpeedMHz: whole(numberAt(processor, 'MaxSpeedMHz')),
    ProcessorType: textAt(processor, 'ProcessorType'),
    ...statusFacts(processor),
  };
}

export function memoryFacts(memory: RedfishResource): Facts {
  return {
    Name: textAt(memory, 'Name'),
    Manufacturer: textAt(memory, 'Manufacturer'),
    MemoryDeviceType: textAt(memory, 'MemoryDeviceType'),
    CapacityGiB: decimals(divided(numberAt(memory, 'CapacityMiB'), 1_024)),
    OperatingSpeedMhz: whole(numberAt(memory, 'OperatingSpeedMhz')),
    ...statusFacts(memory),
  };
}

/** Facts of a drive, or of a device of the older SimpleStorage. */
export function driveFacts(drive: RedfishResource): Facts {
  return {
    Name: textAt(drive, 'Name'),
    Manufacturer: textAt(drive, 'Manufacturer'),
    Model: textAt(drive, 'Model'),
    SerialNumber: textAt(drive, 'SerialNumber'),
    TotalGiB: decimals(divided(numberAt(drive, 'CapacityBytes'), 1_024 ** 3)),
    ...statusFacts(drive),
  };
}

export function ethernetFacts(card: RedfishResource): Facts {
  return {
    MACAddress: (textAt(card, 'MACAddress') ?? textAt(card, 'PermanentMACAddress'))?.toLowerCase(),
    SpeedGbps: decimals(divided(numberAt(card, 'SpeedMbps'), 1_000)),
    LinkStatus: textAt(card, 'LinkStatus'),
    ...statusFacts(card),
  };
}

export function pcieFacts(device: RedfishResource): Facts {
  return {
    Name: textAt(device, 'Name'),
    Description: textAt(device, 'Description'),
    DeviceType: deviceType(device),
    Manufacturer: textAt(device, 'Manufacturer'),
    Model: textAt(device, 'Model'),
    FirmwareVersion: textAt(device, 'FirmwareVersion'),
    PCIeType: textAt(device, 'PCIeInterface', 'PCIeType'),
    MaxPCIeType: textAt(device, 'PCIeInterface', 'MaxPCIeType'),
    LanesInUse: whole(numberAt(device, 'PCIeInterface', 'LanesInUse')),
    MaxLanes: whole(numberAt(device, 'PCIeInterface', 'MaxLanes')),
    ...statusFacts(device),
  };
}

const DEVICE_TYPES: readonly (readonly [type: string, words: RegExp])[] = [
  ['GPU', /\b(gpu|vga|3d|graphics|display)\b/i],
  ['STORAGE', /\b(nvme|nvmessd|ssd|raid|sas|sata|storage)\b/i],
  ['NIC', /\b(nic|ethernet|network|infiniband)\b/i],
];

/** Guessed from the description and the name, because Redfish has no field for it. */
function deviceType(device: RedfishResource): string | undefined {
  const text = `${textAt(device, 'Description') ?? ''} ${textAt(device, 'Name') ?? ''}`;
  return DEVICE_TYPES.find(([, words]) => words.test(text))?.[0];
}

/** The devices of a SimpleStorage, which it contains itself. */
export function simpleStorageDevices(storage: RedfishResource): readonly RedfishResource[] {
  return listAt(storage, 'Devices').filter(isResource);
}

/** The links of a list of links. */
export function linksOf(list: readonly unknown[]): string[] {
  return list.map((one) => linkAt(one)).filter((link) => link !== undefined);
}

function statusFacts(resource: RedfishResource): Facts {
  return { Health: statusAt(resource, 'Health'), State: statusAt(resource, 'State') };
}

function divided(number: number | undefined, by: number): number | undefined {
  return number === undefined ? undefined : number / by;
}

function whole(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(Math.round(number));
}

/** Two digits at most: `1.5`, `64`. */
function decimals(number: number | undefined): string | undefined {
  return number === undefined ? undefined : String(Math.round(number * 100) / 100);
}
