/** Agents for Wake-on-LAN in a cluster: two nodes on real networks, and managers behind mutual TLS. */

import { writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pair } from '@vmdhcp/service-certificates';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import type { WakeReport } from '@vmdhcp/wake-on-lan';
import { AGENT_NAME, MANAGER_NAME, startWolServer, type TlsMaterial, type WolServer } from '@vmdhcp/wake-on-lan/service';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT_BIN, freePort, Lab, type LabProcess, type Machine, runAgent, waitFor } from '../src/index.js';

const DAY_MS = 86_400_000;
const [VM_A, VM_B, VM_C, UNKNOWN] = ['02:00:5e:00:00:0a', '02:00:5e:00:00:0b', '02:00:5e:00:00:0c', '02:00:5e:00:00:ff'];
const NODES = ['node-1', 'node-2'];
let lab: Lab;
let sender: Machine;
let authority: Pair;
let port: number;
let agents: Agent[];

async function issue(name: string): Promise<TlsMaterial> {
  const validity = { notBeforeMs: Date.now() - DAY_MS, notAfterMs: Date.now() + DAY_MS };
  return { ...(await certificateIssuer.issue(authority, [name], validity)), authorities: authority.certificate };
}

/** What managers know together: the machines that were started. */
const started: string[] = [];

interface Manager {
  readonly reports: WakeReport[];
  /** Its answers do not arrive. */
  isFrozen: boolean;
  readonly stop: WolServer['stop'];
}

/** A manager as the controller is one, without a cluster: it starts each machine once. */
async function startManager(): Promise<Manager> {
  const manager = { reports: [] as WakeReport[], isFrozen: false };
  const { stop } = await startWolServer({
    listen: { host: '127.0.0.1', port },
    tls: await issue(MANAGER_NAME),
    handler: {
      report: async (report) => {
        manager.reports.push(report);
        const isFirst = !started.includes(report.macAddress);
        if (isFirst) started.push(report.macAddress);
        if (manager.isFrozen) return { kind: 'unavailable', message: 'killed before its answer' };
        const status = isFirst ? 'vm-start-initiated' : 'duplicate';
        return { kind: 'answered', answer: { status, message: '', wasDuplicate: !isFirst, processingTimeMs: 1 } };
      },
      isServing: () => true,
      leader: () => undefined,
      wakeable: { snapshot: () => [VM_A, VM_B, VM_C], onChange: () => () => {} },
    },
    observe: () => {},
  });
  return Object.assign(manager, { stop });
}

class Agent {
  readonly process: LabProcess;
  readonly url: string;

  constructor(node: string, { http, tls, udpPort }: { http: number; tls: string; udpPort: number }) {
    this.url = `http://127.0.0.1:${http}`;
    const places = ['--interface', 'br48', '--port', String(udpPort), '--http', `127.0.0.1:${http}`];
    const parameters = ['wol', ...places, '--manager', `127.0.0.1:${port}`, '--tls-dir', tls, '--node-name', node];
    this.process = lab.start(process.execPath, [AGENT_BIN, ...parameters]);
  }

  has(event: string, macAddress?: string): boolean {
    return this.records().some(
      (record) => record['event'] === event && (macAddress === undefined || record['macAddress'] === macAddress),
    );
  }

  records(): Record<string, unknown>[] {
    return this.process.lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
  }

  async get(path: string): Promise<string> {
    const response = await fetch(`${this.url}${path}`);
    return `${response.status} ${await response.text()}`;
  }
}

const all = (what: string, condition: (agent: Agent) => boolean | Promise<boolean>) =>
  waitFor(`${what}\n${agents.flatMap(({ process }) => process.lines).join('\n')}`, async () => {
    for (const agent of agents) if (!(await condition(agent))) return false;
    return true;
  });

/** As a frame, which both agents of the network hear. */
const wake = (macAddress: string) => runAgent(sender, 'wake', macAddress, '--interface', 'eth0', '--raw');

beforeAll(async () => {
  lab = new Lab();
  lab.addNetwork('br48', '192.168.48.1/24');
  sender = lab.addMachine('sender', { network: 'br48', macAddress: '02:00:00:00:48:01' });
  sender.ip('address', 'add', '192.168.48.10/24', 'dev', 'eth0');
  authority = await certificateIssuer.createAuthority('lab', {
    notBeforeMs: Date.now() - DAY_MS,
    notAfterMs: Date.now() + DAY_MS,
  });
  port = await freePort();
  const tls = await mkdtemp(join(lab.folder, 'tls-'));
  const { certificate, key, authorities } = await issue(AGENT_NAME);
  writeFileSync(join(tls, 'tls.crt'), certificate);
  writeFileSync(join(tls, 'tls.key'), key);
  writeFileSync(join(tls, 'ca.crt'), authorities);
  agents = [];
  for (const [index, node] of NODES.entries())
    agents.push(new Agent(node, { http: await freePort(), tls, udpPort: 4100 + index }));
});

afterAll(async () => {
  for (const { process } of agents) process.kill('SIGTERM');
  for (const { process } of agents) expect(await process.ended()).toMatchObject({ code: 0 });
  await lab.dispose();
});

describe('vmdhcp-agent wol --manager', () => {
  let manager: Manager;

  it('without a manager it is healthy and not ready, and says why; a wake-up waits for the first manager', async () => {
    await all('listeners', (agent) => agent.has('listening'));
    await all('the reason', async (agent) => /^503 manager .*no manager listens there/.test(await agent.get('/readyz')));
    await all('health', async (agent) => (await agent.get('/healthz')).startsWith('200'));
    await wake(VM_A);
    await all('a report that waits', (agent) => agent.has('report-delayed', VM_A));
    manager = await startManager();
    await all('answers', (agent) => agent.has('reported', VM_A));
    expect(started).toEqual([VM_A]);
    expect(manager.reports.map(({ nodeName }) => nodeName).toSorted()).toEqual(NODES);
    await all('readiness', async (agent) => (await agent.get('/readyz')).startsWith('200'));
  });

  it('the manager is killed between the reports and their answers: the next one gets the report, and the machine is started once', async () => {
    manager.isFrozen = true;
    await wake(VM_B);
    await waitFor('reports', () => manager.reports.some(({ macAddress }) => macAddress === VM_B));
    await manager.stop();
    manager = await startManager();
    await all('answers', (agent) => agent.has('reported', VM_B));
    expect(started).toEqual([VM_A, VM_B]);
  });

  it('reports machines of the list only, each of them once', async () => {
    await wake(UNKNOWN);
    await wake(VM_C);
    await all('answers', (agent) => agent.has('reported', VM_C));
    expect(manager.reports.map(({ macAddress }) => macAddress)).not.toContain(UNKNOWN);
    expect(manager.reports.filter(({ macAddress }) => macAddress === VM_C)).toHaveLength(NODES.length);
    await all('the metric', async (agent) => (await agent.get('/metrics')).includes('outcome="not-in-list"} 1'));
  });
});
