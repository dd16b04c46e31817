/** The resources of a management controller, with the shapes of DMTF's mockups (DSP2043) and the required fields of their schemas. */
import { type Bmc, RESET_TYPES } from './bmc.js';

type Json = Readonly<Record<string, unknown>>;

export const ROOT = '/redfish/v1';
export const SYSTEM = `${ROOT}/Systems/1`;
export const RESET = `${SYSTEM}/Actions/ComputerSystem.Reset`;
export const SESSIONS = `${ROOT}/SessionService/Sessions`;
const MANAGER = `${ROOT}/Managers/1`;
const LOG = `${MANAGER}/LogServices/Sel`;
const OK = { State: 'Enabled', Health: 'OK' };

/** The resource of a path without a slash at its end; undefined: there is none. */
export function bmcResource(bmc: Bmc, path: string): Json | undefined {
  return path === '/redfish' ? { v1: `${ROOT}/` } : RESOURCES[path]?.(bmc);
}

/** Paths that are read without credentials. Source: DSP0266, "Authentication requirements". */
export const OPEN_PATHS: ReadonlySet<string> = new Set(['/redfish', ROOT]);

const RESOURCES: Readonly<Record<string, (bmc: Bmc) => Json>> = {
  [ROOT]: () => ({
    ...head(`${ROOT}/`, 'ServiceRoot.v1_15_0.ServiceRoot', 'Root Service'),
    RedfishVersion: '1.17.0',
    Vendor: 'vmdhcp lab',
    UUID: '92384634-2938-2342-8820-489239905423',
    Systems: link(`${ROOT}/Systems`),
    Managers: link(`${ROOT}/Managers`),
    SessionService: link(`${ROOT}/SessionService`),
    Links: { Sessions: link(SESSIONS) },
  }),
  [`${ROOT}/Systems`]: () => collection(`${ROOT}/Systems`, 'ComputerSystem', [SYSTEM]),
  [SYSTEM]: (bmc) => ({
    ...head(SYSTEM, 'ComputerSystem.v1_20_0.ComputerSystem', `host of ${bmc.id}`),
    '@odata.etag': bmc.etag,
    SystemType: 'Physical',
    UUID: '38947555-7742-3448-3784-823347823834',
    Manufacturer: 'Contoso',
    Model: '3500RX',
    SerialNumber: bmc.id,
    HostName: bmc.id,
    BiosVersion: 'P79 v1.45',
    PowerState: bmc.powerState,
    Status: OK,
    Boot: {
      BootSourceOverrideEnabled: bmc.override.enabled,
      BootSourceOverrideTarget: bmc.override.target,
      BootSourceOverrideMode: 'UEFI',
      'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd'],
      'BootSourceOverrideEnabled@Redfish.AllowableValues': ['Disabled', 'Once'],
    },
    ProcessorSummary: { Count: 1, CoreCount: 16, LogicalProcessorCount: 32, Model: 'Lab CPU', Status: OK },
    MemorySummary: { TotalSystemMemoryGiB: 64, Status: OK },
    Processors: link(`${SYSTEM}/Processors`),
    Memory: link(`${SYSTEM}/Memory`),
    EthernetInterfaces: link(`${SYSTEM}/EthernetInterfaces`),
    Links: { ManagedBy: [link(MANAGER)] },
    Actions: { '#ComputerSystem.Reset': { target: RESET, 'ResetType@Redfish.AllowableValues': RESET_TYPES } },
  }),
  [`${SYSTEM}/Processors`]: () => collection(`${SYSTEM}/Processors`, 'Processor', [`${SYSTEM}/Processors/CPU1`]),
  [`${SYSTEM}/Processors/CPU1`]: () => ({
    ...head(`${SYSTEM}/Processors/CPU1`, 'Processor.v1_18_0.Processor', 'Processor'),
    ProcessorType: 'CPU',
    ProcessorArchitecture: 'x86',
    InstructionSet: 'x86-64',
    Manufacturer: 'Contoso',
    Model: 'Lab CPU',
    MaxSpeedMHz: 3_700,
    TotalCores: 16,
    TotalThreads: 32,
    Status: OK,
  }),
  [`${SYSTEM}/Memory`]: () => collection(`${SYSTEM}/Memory`, 'Memory', [`${SYSTEM}/Memory/DIMM2`, `${SYSTEM}/Memory/DIMM1`]),
  [`${SYSTEM}/Memory/DIMM1`]: () => dimm('DIMM1'),
  [`${SYSTEM}/Memory/DIMM2`]: () => dimm('DIMM2'),
  [`${SYSTEM}/EthernetInterfaces`]: () =>
    collection(`${SYSTEM}/EthernetInterfaces`, 'EthernetInterface', [`${SYSTEM}/EthernetInterfaces/1`]),
  [`${SYSTEM}/EthernetInterfaces/1`]: () => ({
    ...head(`${SYSTEM}/EthernetInterfaces/1`, 'EthernetInterface.v1_9_0.EthernetInterface', 'Card'),
    MACAddress: '02:00:00:00:10:01',
    SpeedMbps: 25_000,
    LinkStatus: 'LinkUp',
    Status: OK,
  }),
  [`${ROOT}/Managers`]: () => collection(`${ROOT}/Managers`, 'Manager', [MANAGER]),
  [MANAGER]: (bmc) => ({
    ...head(MANAGER, 'Manager.v1_18_0.Manager', `manager ${bmc.id}`),
    ManagerType: 'BMC',
    Model: 'Lab BMC',
    FirmwareVersion: '2.80',
    UUID: '58893887-8974-2487-2389-841168418919',
    Status: OK,
    LogServices: link(`${MANAGER}/LogServices`),
    Links: { ManagerForServers: [link(SYSTEM)] },
  }),
  [`${MANAGER}/LogServices`]: () => collection(`${MANAGER}/LogServices`, 'LogService', [LOG]),
  [LOG]: () => ({
    ...head(LOG, 'LogService.v1_5_0.LogService', 'System event log'),
    OverWritePolicy: 'WrapsWhenFull',
    Status: OK,
    Entries: link(`${LOG}/Entries`),
  }),
  [`${LOG}/Entries`]: (bmc) => ({
    ...collection(`${LOG}/Entries`, 'LogEntry', []),
    'Members@odata.count': bmc.log.length,
    // The newest first, as many services have it.
    Members: bmc.log
      .map(({ time, severity, message }, index) => ({
        ...head(`${LOG}/Entries/${index + 1}`, 'LogEntry.v1_15_0.LogEntry', `Entry ${index + 1}`),
        EntryType: 'SEL',
        Created: time,
        Severity: severity,
        Message: message,
      }))
      .toReversed(),
  }),
  [`${ROOT}/SessionService`]: () => ({
    ...head(`${ROOT}/SessionService`, 'SessionService.v1_1_8.SessionService', 'Session Service'),
    ServiceEnabled: true,
    SessionTimeout: 600,
    Status: OK,
    Sessions: link(SESSIONS),
  }),
  [SESSIONS]: () => collection(SESSIONS, 'Session', []),
};

function link(path: string): Json {
  return { '@odata.id': path };
}

/** The last part of the path is the id. */
function head(path: string, type: string, name: string): Json {
  return { '@odata.type': `#${type}`, ...link(path), Id: path.split('/').at(-1) || 'RootService', Name: name };
}

function collection(path: string, kind: string, members: readonly string[]): Json {
  const { Id: _, ...fields } = head(path, `${kind}Collection.${kind}Collection`, `${kind} Collection`);
  return { ...fields, 'Members@odata.count': members.length, Members: members.map(link) };
}

function dimm(id: string): Json {
  return {
    ...head(`${SYSTEM}/Memory/${id}`, 'Memory.v1_17_0.Memory', id),
    MemoryType: 'DRAM',
    MemoryDeviceType: 'DDR5',
    Manufacturer: 'Contoso',
    CapacityMiB: 32_768,
    OperatingSpeedMhz: 4_800,
    Status: OK,
  };
}
