/** A cluster as the status page shows it: small pools, a /16 with 40,000 leases, what is wrong, and names that hostile tenants chose. */
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator';
import type { AgentsPage, BareMetalHost, MachinePage, PageReason, WakeOnLanPage } from '@vmdhcp/status-page';
import { type MemoryLease, MemoryPage } from './memory-page.js';

/** The name of a virtual machine that would be markup if a page parsed it. */
export const HOSTILE_NAME = 'team-b/<img src=x onerror=document.body.dataset.hacked=1>';

/** The pool with 40,000 leases. */
export const LARGE_POOL = 'default/net-52';

const POD = 'vm-dhcp-agent-mgmt-1-7d9f8b6c5-x2k4p';
const OTHER_POD = 'vm-dhcp-agent-mgmt-1-7d9f8b6c5-q8s7m';
const AGENTS = 'vm-dhcp-agents/vm-dhcp-agent-mgmt-1';
const MINUTE_MS = 60_000;

const EXHAUSTED: PageReason = {
  reason: 'PoolExhausted',
  message: 'all 21 addresses are assigned',
  meaning: 'The pool has no free address.',
  remedy: 'Raise `end` of the pool, or free addresses of virtual machines that are gone.',
};
const CONFLICT: PageReason = {
  reason: 'AddressConflict',
  message: '192.168.48.77 is used by 02:00:5e:99:00:01',
  meaning: 'Another machine uses an address of the pool. No client gets the address for an hour.',
  remedy: 'Reserve the address for that MAC address, or remove the machine from the network.',
};
const UNHEALTHY: PageReason = {
  reason: 'HostUnhealthy',
  message: 'GET /redfish/v1/: no answer within 10 s',
  meaning: 'The management controller of the host does not answer as it should; the message has the cause.',
  remedy: 'Do what the message names. Look at the address, the port, the certificate and the Secret of the host.',
};
const LARGE_CONFLICT: PageReason = { ...CONFLICT, message: '10.1.245.170 is used by 02:00:5e:99:00:02' };
const WAITING: PageReason = {
  reason: 'AwaitingMacAddress',
  message: 'interface nic-1',
  meaning: 'An interface has no MAC address yet.',
  remedy: 'Start the virtual machine: KubeVirt chooses the MAC address.',
};

/** The page with its data, not started. @param nowMs - ages in it are counted from here, in milliseconds since 1970. */
export function examplePage(nowMs: number): MemoryPage {
  const page = new MemoryPage();
  putSmallPool(page, nowMs);
  putLargePool(page, nowMs);
  putExhaustedPool(page);
  page.machines = exampleMachines(nowMs);
  page.agents = exampleAgents(nowMs);
  page.events = exampleEvents(nowMs);
  page.wakeOnLan = exampleWakeOnLan(nowMs);
  page.hosts = {
    clusterAgents: [{ name: 'rack-1', state: 'ok', reasons: [], conditions: [] }],
    hosts: Array.from({ length: 12 }, (_, index) => exampleHost(index, nowMs)),
  };
  return page;
}

function putSmallPool(page: MemoryPage, nowMs: number): void {
  const used = [...range(10, 68), 70, 72, 80, 82, 84, 91, 95, 108, 109, 130, 132, 134, 151, 160, 163, 171, 180];
  const leases = used.map((last): MemoryLease => ({ address: `192.168.48.${last}`, machine: `default/web-${last}` }));
  const reservations = [100, 101, 105].map((last) => ({
    address: `192.168.48.${last}`,
    macAddress: `02:00:5e:48:00:${last - 80}`,
  }));
  page.putPool(
    {
      ...{
        name: 'default/net-48',
        cidr: '192.168.48.0/24',
        serverAddress: '192.168.48.2',
        start: '192.168.48.10',
        end: '192.168.48.199',
      },
      ...{ exclude: ['192.168.48.120-192.168.48.129'], reservations },
    },
    leases,
    {
      ...{ state: 'note', reasons: [CONFLICT], servedByPod: POD, agents: AGENTS },
      quarantined: [{ address: addressOf('192.168.48.77'), untilMs: nowMs + 30 * MINUTE_MS, usedBy: '02:00:5e:99:00:01' }],
      conditions: [{ type: 'AgentReady', status: 'True', reason: 'Serving', message: '', sinceMs: nowMs - 300 * MINUTE_MS }],
    },
  );
}

function putLargePool(page: MemoryPage, nowMs: number): void {
  const first = addressOf('10.1.0.16');
  // The first 28,000 addresses in a row, and every third of those that follow: as after months of machines that come and go.
  const offsets = [...range(0, 28_000), ...range(0, 12_000).map((index) => 28_000 + index * 3)];
  const leases = offsets.map(
    (offset): MemoryLease => ({ address: formatIpv4Address(first + offset), machine: `default/vm-${offset}` }),
  );
  page.putPool(
    {
      ...{ name: LARGE_POOL, cidr: '10.1.0.0/16', serverAddress: '10.1.0.2', start: '10.1.0.16', end: '10.1.255.250' },
      exclude: ['10.1.200.0-10.1.207.255'],
    },
    leases.filter(({ address }) => !/^10\.1\.20[0-7]\./.test(address)),
    {
      ...{ state: 'note', reasons: [LARGE_CONFLICT], servedByPod: POD, agents: AGENTS },
      quarantined: [{ address: addressOf('10.1.245.170'), untilMs: nowMs + 20 * MINUTE_MS, usedBy: '02:00:5e:99:00:02' }],
    },
  );
}

function putExhaustedPool(page: MemoryPage): void {
  const leases = range(100, 121).map((last): MemoryLease => ({ address: `192.168.70.${last}`, machine: `team-b/db-${last}` }));
  const [one, ...others] = leases;
  if (one === undefined) return;
  page.putPool(
    {
      name: 'team-b/net-70',
      cidr: '192.168.70.0/24',
      serverAddress: '192.168.70.1',
      start: '192.168.70.100',
      end: '192.168.70.120',
    },
    [{ ...one, machine: HOSTILE_NAME, hostname: '<script>document.body.dataset.hacked=1</script>' }, ...others],
    { state: 'broken', reasons: [EXHAUSTED], servedByPod: POD, agents: AGENTS },
  );
}

function exampleMachines(nowMs: number): MachinePage {
  const [namespace = '', name = ''] = HOSTILE_NAME.split('/');
  const rows: MachinePage['rows'] = [
    {
      namespace: 'default',
      name: 'new',
      network: 'default/vlan-48',
      mac: '',
      state: 'waiting',
      reasons: [WAITING],
      sinceMs: null,
    },
    {
      ...{ namespace, name, network: 'team-b/vlan-70', mac: '02:00:5e:70:00:99', state: 'broken' },
      ...{ reasons: [EXHAUSTED], sinceMs: nowMs - 6 * MINUTE_MS },
    },
  ];
  return { rows: rows.toReversed(), total: rows.length, broken: 1, continue: null };
}

function exampleAgents(nowMs: number): AgentsPage {
  const ago = (minutes: number): number => nowMs - minutes * MINUTE_MS;
  const terms = [
    { leader: POD, fromMs: ago(40), untilMs: null },
    { leader: '', fromMs: ago(42), untilMs: ago(40) },
    { leader: OTHER_POD, fromMs: ago(120), untilMs: ago(42) },
    { leader: POD, fromMs: ago(300), untilMs: ago(120) },
  ];
  const pools = [
    {
      pool: 'default/net-48',
      state: 'note',
      isServed: true,
      findings: ['Rogue DHCP server 192.168.48.250, MAC address 02:00:5e:aa:00:01', 'Addresses in conflict: 1'],
    },
    { pool: LARGE_POOL, state: 'ok', isServed: true, findings: [] },
    { pool: 'team-b/net-70', state: 'ok', isServed: true, findings: [] },
  ] as const;
  const group = {
    namespace: 'vm-dhcp-agents',
    name: 'vm-dhcp-agent-mgmt-1',
    state: 'note' as const,
    reasons: [CONFLICT],
    leader: POD,
    renewedAtMs: nowMs - 2000,
    transitions: 3,
  };
  return { followedSinceMs: ago(300), groups: [{ ...group, terms, pools }] };
}

function exampleEvents(nowMs: number): MemoryPage['events'] {
  const ofPool = { kind: 'IPPool', namespace: 'default', name: 'net-48' };
  const ofPod = { kind: 'Pod', namespace: 'vm-dhcp-agents', name: POD };
  const conflict = { ...ofPool, reason: CONFLICT.reason, message: CONFLICT.message, isWarning: true, count: 3 };
  const started = { ...ofPod, reason: 'Started', message: 'Started container agent', isWarning: false, count: 1 };
  const ofMachine = { kind: 'VirtualMachine', namespace: 'default', name: 'web-10' };
  const message = 'started for magic packets; WolConfig default; from 192.168.48.10';
  const woken = { ...ofMachine, reason: 'WakeUpStarted', message, isWarning: false, count: 1 };
  return {
    pools: { rows: [{ ...conflict, lastAtMs: nowMs - 4 * MINUTE_MS }] },
    agents: { rows: [{ ...started, lastAtMs: nowMs - 40 * MINUTE_MS }] },
    'wake-on-lan': { rows: [{ ...woken, lastAtMs: nowMs - 3 * MINUTE_MS }] },
  };
}

function exampleWakeOnLan(nowMs: number): WakeOnLanPage {
  const agents = { daemonSet: 'vm-dhcp-agents/wake-default', wanted: 3, ready: 3 };
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'MappingUpdated', message: '', sinceMs: nowMs - MINUTE_MS },
  ] as const;
  return {
    configs: [
      { name: 'default', mode: 'All', ports: [7, 9], managedMachines: 112, agents, state: 'ok', reasons: [], conditions },
    ],
  };
}

function exampleHost(index: number, nowMs: number): BareMetalHost {
  return {
    name: `rack-1-192-168-7-${index + 10}`,
    clusterAgent: 'rack-1',
    address: `192.168.7.${index + 10}`,
    mac: `02:00:5e:07:00:${(index + 16).toString(16)}`,
    type: 'dhcp',
    isHealthy: index === 5 ? false : index === 6 ? null : true,
    reasons: index === 5 ? [UNHEALTHY] : [],
    hasLease: index !== 7,
    logEntries: index * 3,
    warnings: index % 4,
    latestWarning: index % 4 === 0 ? '' : 'Fan 2 is below its lower threshold',
    updatedAtMs: nowMs - index * 7000,
  };
}

/** From `first` to before `end`. */
function range(first: number, end: number): number[] {
  return Array.from({ length: end - first }, (_, index) => first + index);
}

function addressOf(text: string): number {
  const address = parseIpv4Address(text);
  if (address === undefined) throw new Error(`${text} is not an address`);
  return address;
}
