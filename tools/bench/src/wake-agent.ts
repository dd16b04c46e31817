/**
 * npm run bench -- wake-on-lan --only agent: `vmdhcp-agent wol` as in a cluster, with the rights that it has there. Its manager is this process, behind mutual TLS; a
 * machine on the network floods it with made-up addresses, and wakes a machine of the list now and then.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { AGENT_BIN, freePort, Lab, type LabProcess, waitFor } from '@vmdhcp/lab';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import type { WakeReport } from '@vmdhcp/wake-on-lan';
import { AGENT_NAME, MANAGER_NAME, startWolServer } from '@vmdhcp/wake-on-lan/service';
import { usageOf } from './process-usage.js';
import { markdown } from './tables.js';

const MACHINES = 10_000;
const FLOOD = { perSecond: 100_000, seconds: 10 };
/** One alone gets too little of a processor where other programs run. */
const SENDERS = 2;
const WAKE_UPS = 100;
const UDP_PORT = 4009;
const ADDRESS = '192.168.48.1';
const DAY_MS = 86_400_000;
const FLOOD_PROGRAM = fileURLToPath(new URL('../scripts/wake-flood.mjs', import.meta.url));
const SAMPLE_MS = 100;

const macOf = (index: number): string =>
  (0x020000000000 + index)
    .toString(16)
    .padStart(12, '0')
    .replace(/(..)(?!$)/g, '$1:');
const list = Array.from({ length: MACHINES }, (_, index) => macOf(index));

const lab = new Lab();
try {
  process.stdout.write(`\n${await measure()}\n`);
} finally {
  await lab.dispose();
}
process.exit(0);

async function measure(): Promise<string> {
  lab.addNetwork('br48', `${ADDRESS}/24`);
  const sender = lab.addMachine('sender', { network: 'br48', macAddress: '02:00:00:00:48:01' });
  sender.ip('address', 'add', '192.168.48.10/24', 'dev', 'eth0');
  const reportedAtMs = new Map<string, number>();
  const { port, tlsDirectory } = await startManager((report) => {
    if (!reportedAtMs.has(report.macAddress)) reportedAtMs.set(report.macAddress, performance.timeOrigin + performance.now());
  });
  const startedAt = performance.now();
  const agent = await startAgent(port, tlsDirectory);
  const readyMs = performance.now() - startedAt;
  await delay(3_000);
  const idle = usageOf(agent.pid);
  const floods = Array.from({ length: SENDERS }, (_, index) => {
    const machines = list.slice((index * WAKE_UPS) / SENDERS, ((index + 1) * WAKE_UPS) / SENDERS);
    const place = { port: UDP_PORT, interfaceName: 'eth0', address: parseIpv4Address(ADDRESS) };
    const settings = { ...FLOOD, perSecond: FLOOD.perSecond / SENDERS, first: index << 24, machines, ...place };
    return sender.start(process.execPath, [FLOOD_PROGRAM, JSON.stringify(settings)]);
  });
  let most = idle;
  while (floods.some(({ hasEnded }) => !hasEnded)) {
    await delay(SAMPLE_MS);
    const now = usageOf(agent.pid);
    if (now.residentMegabytes > most.residentMegabytes) most = now;
  }
  await delay(1_000);
  const used = usageOf(agent.pid);
  const heard = await packetsOf(agent.http);
  const { sent, sentAtMs } = readFlood(floods);
  const delays = [...reportedAtMs]
    .map(([mac, atMs]) => atMs - (sentAtMs.get(mac) ?? Number.NaN))
    .toSorted((one, other) => one - other);
  const at = (part: number) => `${delays[Math.floor(part * (delays.length - 1))]?.toFixed(1) ?? '-'} ms`;
  const perSecond = (count: number) => Math.round(count / FLOOD.seconds).toLocaleString('en');
  const memory = ({ residentMegabytes, privateMegabytes }: typeof idle) =>
    `${residentMegabytes.toFixed(0)} MB, ${privateMegabytes.toFixed(0)} MB`;
  const cpu = used.userSeconds + used.kernelSeconds - idle.userSeconds - idle.kernelSeconds;
  return markdown(
    ['an agent with a manager behind mutual TLS, and a list of 10,000 machines', 'measured', 'goal'],
    [
      ['start until its manager answers', `${readyMs.toFixed(0)} ms`, ''],
      ['memory when idle: RSS, private', memory(idle), ''],
      ['flood of made-up addresses: sent, heard a second', `${perSecond(sent)}, ${perSecond(heard)}`, '100,000'],
      [
        `real wake-ups in it: reported of ${WAKE_UPS}; median and longest time from packet to manager`,
        `${delays.length}; ${at(0.5)}, ${at(1)}`,
        'all, 1,000 ms',
      ],
      ['memory in the flood, most: RSS, private', memory(most), 'bounded'],
      ['processor time of the agent in it', `${((100 * cpu) / FLOOD.seconds).toFixed(0)} % of one`, ''],
    ],
  );
}

async function startManager(
  onReport: (report: WakeReport) => void,
): Promise<{ readonly port: number; readonly tlsDirectory: string }> {
  const validity = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS };
  const authority = await certificateIssuer.createAuthority('bench', validity);
  const manager = await certificateIssuer.issue(authority, [MANAGER_NAME], validity);
  const own = await certificateIssuer.issue(authority, [AGENT_NAME], validity);
  const tlsDirectory = mkdtempSync(join(lab.folder, 'tls-'));
  writeFileSync(join(tlsDirectory, 'tls.crt'), own.certificate);
  writeFileSync(join(tlsDirectory, 'tls.key'), own.key);
  writeFileSync(join(tlsDirectory, 'ca.crt'), authority.certificate);
  const answer = { status: 'vm-start-initiated', message: '', wasDuplicate: false, processingTimeMs: 0 } as const;
  const { port } = await startWolServer({
    listen: { host: '127.0.0.1', port: 0 },
    tls: { ...manager, authorities: authority.certificate },
    handler: {
      report: async (report) => {
        onReport(report);
        return { kind: 'answered', answer };
      },
      isServing: () => true,
      leader: () => undefined,
      wakeable: { snapshot: () => list, onChange: () => () => {} },
    },
    observe: (event) => process.stderr.write(`${JSON.stringify(event)}\n`),
  });
  return { port, tlsDirectory };
}

interface RunningAgent {
  readonly pid: number;
  readonly http: string;
}

async function startAgent(port: number, tlsDirectory: string): Promise<RunningAgent> {
  const http = await freePort();
  const rights = ['--bounding-set=-all,+net_raw,+net_bind_service', '--inh-caps=-all'];
  const places = ['--interface', 'br48', '--port', String(UDP_PORT), '--http', `127.0.0.1:${http}`];
  const manager = ['--manager', `127.0.0.1:${port}`, '--tls-dir', tlsDirectory, '--node-name', 'node-1'];
  const agent = lab.start('setpriv', [...rights, process.execPath, AGENT_BIN, 'wol', ...places, ...manager]);
  await waitFor('a listener and a manager', () => {
    if (agent.hasEnded) throw new Error(agent.lines.join('\n'));
    return ['"listening"', '"connected"'].every((event) => agent.lines.some((line) => line.includes(event)));
  });
  return { pid: agent.pid, http: `http://127.0.0.1:${http}` };
}

/** Packets that the agent heard, of every outcome. */
async function packetsOf(http: string): Promise<number> {
  const text = await (await fetch(`${http}/metrics`)).text();
  return [...text.matchAll(/^vmdhcp_agent_wol_packets_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
}

function readFlood(floods: readonly LabProcess[]): { readonly sent: number; readonly sentAtMs: ReadonlyMap<string, number> } {
  const messages = floods
    .flatMap(({ lines }) => lines)
    .map((line) => JSON.parse(line) as { kind: string; sent?: number; macAddress: string; sentAtMs: number });
  const sentAtMs = new Map(
    messages.flatMap(({ kind, macAddress, sentAtMs: atMs }) => (kind === 'woken' ? [[macAddress, atMs] as const] : [])),
  );
  return { sent: messages.reduce((sum, { sent = 0 }) => sum + sent, 0), sentAtMs };
}
