import { describe, expect, it, onTestFinished } from 'vitest';
import {
  collection,
  link,
  logPages,
  type Responder,
  refuse,
  SMALL,
  serve,
  startService,
  withLog,
  withSystem,
} from './service-fixtures.js';

async function inspect(respond: Responder) {
  const service = await startService(respond);
  onTestFinished(() => service[Symbol.asyncDispose]());
  return { report: await service.client().inspect(), requests: service.requests };
}

const SYSTEM = '/redfish/v1/Systems/1';

/** The report of a rack server, in the shapes of DSP2043 (public-rackmount1). */
const SERVER = withSystem(
  {
    BiosVersion: 'P79 v1.45',
    HostName: 'web483',
    Manufacturer: 'Contoso',
    Model: '3500RX',
    SerialNumber: '437XR1138R2',
    Status: { State: 'Enabled', Health: 'OK' },
    ProcessorSummary: { Count: 2, CoreCount: 48, LogicalProcessorCount: 96, Model: 'Xeon', Status: { Health: 'OK' } },
    MemorySummary: { TotalSystemMemoryGiB: 96, Status: { Health: 'Warning' } },
    Processors: link(`${SYSTEM}/Processors`),
    Memory: link(`${SYSTEM}/Memory`),
    EthernetInterfaces: link(`${SYSTEM}/EthernetInterfaces`),
    Storage: link(`${SYSTEM}/Storage`),
    PCIeDevices: [link('/redfish/v1/Chassis/1/PCIeDevices/NIC')],
  },
  {
    [`${SYSTEM}/Processors`]: collection(`${SYSTEM}/Processors/CPU1`),
    [`${SYSTEM}/Processors/CPU1`]: {
      ...link(`${SYSTEM}/Processors/CPU1`),
      ProcessorType: 'CPU',
      ProcessorArchitecture: 'x86',
      Manufacturer: 'Intel',
      Model: 'Gold',
      MaxSpeedMHz: 3_700,
      Status: { State: 'Enabled', Health: 'OK' },
    },
    // The order changes from one answer to the next, and 10 comes after 2.
    [`${SYSTEM}/Memory`]: collection(`${SYSTEM}/Memory/DIMM10`, `${SYSTEM}/Memory/DIMM2`),
    [`${SYSTEM}/Memory/DIMM10`]: { ...link(`${SYSTEM}/Memory/DIMM10`), Name: 'ten', CapacityMiB: 32_768 },
    [`${SYSTEM}/Memory/DIMM2`]: { ...link(`${SYSTEM}/Memory/DIMM2`), Name: 'two', CapacityMiB: 1_536, OperatingSpeedMhz: 2_400 },
    [`${SYSTEM}/EthernetInterfaces`]: {
      Members: [
        { ...link(`${SYSTEM}/EthernetInterfaces/1`), MACAddress: 'AA:BB:CC:00:11:22', SpeedMbps: 25_000, LinkStatus: 'LinkUp' },
      ],
    },
    [`${SYSTEM}/Storage`]: collection(`${SYSTEM}/Storage/1`),
    [`${SYSTEM}/Storage/1`]: { ...link(`${SYSTEM}/Storage/1`), Drives: [link(`${SYSTEM}/Storage/1/Drives/1`)] },
    [`${SYSTEM}/Storage/1/Drives/1`]: { Name: 'Drive 1', CapacityBytes: 960_197_124_096, Status: { Health: 'OK' } },
    '/redfish/v1/Chassis/1/PCIeDevices/NIC': {
      Name: 'Card 1',
      Description: 'Ethernet card',
      PCIeInterface: { PCIeType: 'Gen3', MaxPCIeType: 'Gen4', LanesInUse: 8, MaxLanes: 16 },
    },
  },
);

describe('the information about a host', () => {
  it('is flat, in a fixed order, without missing fields', async () => {
    const { report } = await inspect(serve(SERVER));
    expect(report.info).toEqual({
      RedfishVersion: '1.17.0',
      BmcFirmwareVersion: '2.80',
      BmcStatus: 'OK',
      BiosVersion: 'P79 v1.45',
      BiosVerison: 'P79 v1.45',
      HostName: 'web483',
      Manufacturer: 'Contoso',
      Model: '3500RX',
      SerialNumber: '437XR1138R2',
      PowerState: 'On',
      SystemStatus: 'OK',
      SyatemStatus: 'OK',
      CpuCount: '2',
      CpuPhysicalCore: '48',
      CpuLogicalCore: '96',
      CpuModel: 'Xeon',
      CpuStatus: 'OK',
      MemoryTotalGiB: '96',
      MemoryStatus: 'Warning',
      'Cpu[0].Architecture': 'x86',
      'Cpu[0].Manufacturer': 'Intel',
      'Cpu[0].Model': 'Gold',
      'Cpu[0].MaxSpeedMHz': '3700',
      'Cpu[0].ProcessorType': 'CPU',
      'Cpu[0].Health': 'OK',
      'Cpu[0].State': 'Enabled',
      'Memory[0].Name': 'two',
      'Memory[0].CapacityGiB': '1.5',
      'Memory[0].OperatingSpeedMhz': '2400',
      'Memory[1].Name': 'ten',
      'Memory[1].CapacityGiB': '32',
      MemoryChipsAccount: '2',
      'EthernetInterfaces[0].MACAddress': 'aa:bb:cc:00:11:22',
      'EthernetInterfaces[0].SpeedGbps': '25',
      'EthernetInterfaces[0].LinkStatus': 'LinkUp',
      'Storage[0].Device[0].Name': 'Drive 1',
      'Storage[0].Device[0].TotalGiB': '894.25',
      'Storage[0].Device[0].Health': 'OK',
      'PCIeDevices[0].Name': 'Card 1',
      'PCIeDevices[0].Description': 'Ethernet card',
      'PCIeDevices[0].DeviceType': 'NIC',
      'PCIeDevices[0].PCIeType': 'Gen3',
      'PCIeDevices[0].MaxPCIeType': 'Gen4',
      'PCIeDevices[0].LanesInUse': '8',
      'PCIeDevices[0].MaxLanes': '16',
    });
    expect(report.log).toBeUndefined();
  });

  it('is short for a service where only a manager and a system can be read', async () => {
    const { report } = await inspect(serve(SMALL));
    expect(report).toEqual({
      info: { RedfishVersion: '1.17.0', BmcFirmwareVersion: '2.80', BmcStatus: 'OK', PowerState: 'On' },
      log: undefined,
    });
  });

  it('has a prefix from the second system and manager on', async () => {
    const { report } = await inspect(
      serve({
        ...SMALL,
        '/redfish/v1/Systems': collection('/redfish/v1/Systems/2', SYSTEM),
        '/redfish/v1/Systems/2': { ...link('/redfish/v1/Systems/2'), PowerState: 'Off' },
        '/redfish/v1/Managers': collection('/redfish/v1/Managers/1', '/redfish/v1/Managers/2'),
        '/redfish/v1/Managers/2': { ...link('/redfish/v1/Managers/2'), FirmwareVersion: '9' },
      }),
    );
    expect(report.info).toMatchObject({ PowerState: 'On', 'System[1].PowerState': 'Off', 'Manager[1].BmcFirmwareVersion': '9' });
  });

  it('reads an older service: SimpleStorage, and the PCIe devices of the chassis', async () => {
    const { report } = await inspect(
      serve(
        withSystem(
          { SimpleStorage: link(`${SYSTEM}/SimpleStorage`) },
          {
            '/redfish/v1/': { ...SMALL['/redfish/v1/'], Chassis: link('/redfish/v1/Chassis') },
            '/redfish/v1/Chassis': collection('/redfish/v1/Chassis/1'),
            '/redfish/v1/Chassis/1': { PCIeDevices: link('/redfish/v1/Chassis/1/PCIeDevices') },
            '/redfish/v1/Chassis/1/PCIeDevices': collection('/redfish/v1/Chassis/1/PCIeDevices/1'),
            '/redfish/v1/Chassis/1/PCIeDevices/1': { Name: 'GPU 1' },
            [`${SYSTEM}/SimpleStorage`]: collection(`${SYSTEM}/SimpleStorage/1`),
            [`${SYSTEM}/SimpleStorage/1`]: { Devices: [{ Name: 'disk', CapacityBytes: 1_073_741_824 }, null, 7] },
          },
        ),
      ),
    );
    expect(report.info).toMatchObject({
      'Storage[0].Device[0].Name': 'disk',
      'Storage[0].Device[0].TotalGiB': '1',
      'PCIeDevices[0].Name': 'GPU 1',
      'PCIeDevices[0].DeviceType': 'GPU',
    });
  });

  it('names the unreadable parts, and contains the others', async () => {
    const { report } = await inspect(({ path, ...others }, response) => {
      if (path === `${SYSTEM}/Memory`) return refuse(response, 500);
      if (path === `${SYSTEM}/Storage`) return void response.writeHead(200).end('<html>');
      if (path === `${SYSTEM}/Processors/CPU1`) return refuse(response, 403);
      return serve(SERVER)({ path, ...others }, response);
    });
    expect(report.info).toMatchObject({
      Incomplete: 'Cpu: forbidden, Memory: server-failed, Storage: not-redfish',
      HostName: 'web483',
      'PCIeDevices[0].Name': 'Card 1',
    });
  });

  it('follows no link to another server', async () => {
    const { report, requests } = await inspect(
      serve(
        withSystem({
          Processors: link('http://192.0.2.1/redfish/v1/x'),
          Memory: link('//192.0.2.1/redfish/v1/x'),
          EthernetInterfaces: link('http://user:word@127.0.0.1/x'),
        }),
      ),
    );
    expect(report.info['Incomplete']).toBe('Cpu: redirected, Memory: redirected, EthernetInterfaces: redirected');
    expect(requests.some(({ path }) => path.includes('x'))).toBe(false);
  });
});

describe('logs', () => {
  const LOGS = '/redfish/v1/Managers/1/LogServices';
  const entry = (number: number, time: string | undefined, fields: object = {}) => ({
    ...link(`${LOGS}/Sel/Entries/${number}`),
    Id: String(number),
    Message: `message ${number}`,
    Severity: 'OK',
    ...(time !== undefined && { Created: time }),
    ...fields,
  });
  const withLogs = (resources: Readonly<Record<string, object>>) => ({
    ...SMALL,
    '/redfish/v1/Managers/1': { ...SMALL['/redfish/v1/Managers/1'], LogServices: link(LOGS) },
    [LOGS]: collection(`${LOGS}/Sel`),
    [`${LOGS}/Sel`]: { ...link(`${LOGS}/Sel`), Entries: link(`${LOGS}/Sel/Entries`), Status: { State: 'Enabled' } },
    ...resources,
  });

  it('are one list, oldest first, from all services and pages, whatever the order of each', async () => {
    const { report } = await inspect(
      serve(
        withLogs({
          '/redfish/v1/Systems/1': { ...SMALL['/redfish/v1/Systems/1'], LogServices: link('/redfish/v1/Systems/1/LogServices') },
          '/redfish/v1/Systems/1/LogServices': collection('/redfish/v1/Systems/1/LogServices/Log'),
          '/redfish/v1/Systems/1/LogServices/Log': { Entries: link('/redfish/v1/Systems/1/LogServices/Log/Entries') },
          '/redfish/v1/Systems/1/LogServices/Log/Entries': {
            Members: [entry(7, '2026-01-02T12:00:00Z'), entry(6, '2026-01-01T12:00:00+00:00')],
          },
          [`${LOGS}/Sel/Entries`]: {
            Members: [entry(1, '2026-01-01T00:00:00Z'), entry(2, undefined, { Severity: 'Critical' })],
            'Members@odata.nextLink': `${LOGS}/Sel/Entries?$skip=2`,
          },
          [`${LOGS}/Sel/Entries?$skip=2`]: { Members: [link(`${LOGS}/Sel/Entries/3`)] },
          [`${LOGS}/Sel/Entries/3`]: entry(3, '2026-01-02T00:00:00Z'),
        }),
      ),
    );
    expect(report.log?.map(({ message }) => message)).toEqual(['message 1', 'message 2', 'message 6', 'message 3', 'message 7']);
    expect(report.log?.[1]).toEqual({ id: `${LOGS}/Sel/Entries/2`, time: '', severity: 'Critical', message: 'message 2' });
  });

  it('that are empty yield an empty list; without a log the entries are unknown', async () => {
    const { report } = await inspect(serve(withLogs({ [`${LOGS}/Sel/Entries`]: { Members: [] } })));
    expect(report.log).toEqual([]);
  });

  it.each<[status: number, log: object[] | undefined, note: string]>([
    [404, [], 'Log: not-found'],
    [500, undefined, 'Log: server-failed'],
  ])('if one is answered with HTTP %d, all entries are %j', async (status, log, note) => {
    const resources = withLogs({
      [LOGS]: collection(`${LOGS}/Sel`, `${LOGS}/Other`),
      [`${LOGS}/Other`]: { Entries: link(`${LOGS}/Other/Entries`) },
      [`${LOGS}/Sel/Entries`]: { Members: [] },
    });
    const { report } = await inspect((request, response) =>
      request.path === `${LOGS}/Other/Entries` ? refuse(response, status) : serve(resources)(request, response),
    );
    expect(report.log).toEqual(log);
    expect(report.info['Incomplete']).toBe(note);
  });

  /** Pages of 100 entries; `order` -1: the newest entry first. */
  const pagesOf = (count: number, order: 1 | -1, log = 'Sel') =>
    Object.fromEntries(
      Array.from({ length: count }, (_, page) => [
        `${LOGS}/${log}/Entries${page === 0 ? '' : `?page=${page}`}`,
        {
          'Members@odata.count': count * 100,
          Members: Array.from({ length: 100 }, (__, index) => {
            const number = page * 100 + index;
            return entry(number, new Date((100_000 + number * order) * 1_000).toISOString());
          }),
          ...(page < count - 1 && { 'Members@odata.nextLink': `${LOGS}/${log}/Entries?page=${page + 1}` }),
        },
      ]),
    );

  it('with too many entries keep the newest, which are on the last page', async () => {
    const { report } = await inspect(serve(withLogs(pagesOf(30, 1))));
    expect(report.log).toHaveLength(1_000);
    expect(report.log?.at(-1)?.message).toBe('message 2999');
  });

  it('with the newest entries first: as many pages as are kept', async () => {
    const { report, requests } = await inspect(serve(withLogs(pagesOf(300, -1))));
    expect(report.log).toHaveLength(1_000);
    expect(report.log?.at(-1)?.message).toBe('message 0');
    expect(requests.filter(({ path }) => path.includes('/Entries'))).toHaveLength(10);
  });

  it.each([
    [1_600, 1],
    [50, 100],
  ])('with %d entries of 35 fields in each of %d pages are read', async (entries, pages) => {
    const service = await startService(serve(withLog(logPages(pages, entries))));
    onTestFinished(() => service[Symbol.asyncDispose]());
    const { log, info } = await service.client().inspect();
    expect([log?.length, log?.at(-1)?.message, info['Incomplete']]).toEqual([
      1_000,
      `Browser login: Administrator - 192.168.100.200 (${entries * pages - 1})`,
      undefined,
    ]);
  });

  it('whose newest entries are too far behind are left out after the first page; the other logs are read', async () => {
    const resources = withLogs({
      ...pagesOf(60, 1, 'Journal'),
      [LOGS]: collection(`${LOGS}/Journal`, `${LOGS}/Sel`),
      [`${LOGS}/Journal`]: { Entries: link(`${LOGS}/Journal/Entries`) },
      [`${LOGS}/Sel/Entries`]: { Members: [entry(1, '2026-01-01T00:00:00Z')] },
    });
    const { report, requests } = await inspect(serve(resources));
    expect(report).toMatchObject({ log: [{ message: 'message 1' }], info: { Incomplete: 'Log: too-large', PowerState: 'On' } });
    expect(requests.filter(({ path }) => path.includes('/Journal/Entries'))).toHaveLength(1);
  });

  it('with too many links are left out', async () => {
    const links = Array.from({ length: 300 }, (_, index) => `${LOGS}/Sel/Entries/${index}`);
    const { report, requests } = await inspect(serve(withLogs({ [`${LOGS}/Sel/Entries`]: collection(...links) })));
    expect(report).toMatchObject({ log: undefined, info: { Incomplete: 'Log: too-large' } });
    expect(requests.some(({ path }) => path === links[0])).toBe(false);
  });
});

it('a call keeps its connections for the next one', async () => {
  const sockets = new Set<unknown>();
  const service = await startService(({ path, ...others }, response) => {
    sockets.add(response.socket);
    return serve(SERVER)({ path, ...others }, response);
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const client = service.client();
  await client.inspect();
  await client.inspect();
  expect(sockets.size).toBeLessThanOrEqual(2);
});

it('a kept connection that the service closes at that moment is replaced', async () => {
  let count = 0;
  const service = await startService((request, response) => {
    count++;
    return count === 2 ? void response.socket?.destroy() : serve(SMALL)(request, response);
  });
  onTestFinished(() => service[Symbol.asyncDispose]());
  await expect(service.client().inspect()).resolves.toBeDefined();
});
