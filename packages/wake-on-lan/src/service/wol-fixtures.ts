/** A manager and an agent for tests. */

import { onTestFinished } from 'vitest';
import { WolClient } from '../client/wol-client.js';
import type { DeliveryOutcome } from '../report/manager-client.js';
import type { ReportOutcome, WakeAnswer, WakeReport } from '../report/wake-report.js';
import type { WolClientEvent } from '../report/wol-client-event.js';
import type { WolHandler } from '../report/wol-handler.js';
import { startWolServer, type WolServer } from '../server/wol-server.js';
import type { WolServerEvent } from '../server/wol-server-event.js';
import type { TlsMaterial } from '../tls/tls-material.js';

export const VM_A = '02:00:5e:10:00:01';
export const VM_B = '02:00:5e:10:00:02';
export const REPORT: WakeReport = {
  macAddress: VM_A,
  nodeName: 'node-1',
  sender: '192.0.2.7',
  senderPort: 40_000,
  packetSize: 102,
  heardAtMs: 1_700_000_000_123,
  ageMs: 0,
};
export const STARTED: WakeAnswer = {
  status: 'vm-start-initiated',
  message: 'started',
  machine: { namespace: 'lab', name: 'vm-a', currentState: 'Stopped' },
  wasDuplicate: false,
  processingTimeMs: 12,
};

export interface TestManager extends WolServer {
  readonly address: string;
  readonly reports: WakeReport[];
  readonly events: WolServerEvent[];
  outcome: ReportOutcome | (() => Promise<ReportOutcome>);
  isServing: boolean;
  leader: string | undefined;
  /** The list of addresses. */
  list: (addresses: readonly string[]) => void;
  /** The list for agents that check a password of this name. */
  listWithPassword: (passwordSecret: string, addresses: readonly string[]) => void;
}

export async function startManager(
  tls?: TlsMaterial,
  { port = 0, clientName }: { port?: number; clientName?: string } = {},
): Promise<TestManager> {
  const listeners = new Set<() => void>();
  let addresses: readonly string[] = [VM_A];
  const withPassword = new Map<string, readonly string[]>();
  const about: Pick<TestManager, 'reports' | 'events' | 'outcome' | 'isServing' | 'leader' | 'list' | 'listWithPassword'> = {
    reports: [],
    events: [],
    outcome: { kind: 'answered', answer: STARTED },
    isServing: true,
    leader: undefined,
    list: (after) => {
      addresses = after;
      for (const listener of listeners) listener();
    },
    listWithPassword: (passwordSecret, after) => {
      withPassword.set(passwordSecret, after);
      for (const listener of listeners) listener();
    },
  };
  const handler: WolHandler = {
    report: async (report) => {
      about.reports.push(report);
      return typeof about.outcome === 'function' ? about.outcome() : about.outcome;
    },
    isServing: () => about.isServing,
    leader: () => about.leader,
    wakeable: {
      snapshot: (passwordSecret = '') => withPassword.get(passwordSecret) ?? addresses,
      passwords: () => new Set(withPassword.keys()),
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
  };
  const server = await startWolServer({
    listen: { host: '127.0.0.1', port },
    tls,
    ...(clientName !== undefined && { clientName }),
    handler,
    observe: (event) => about.events.push(event),
  });
  onTestFinished(() => server.stop());
  return Object.defineProperties(about, {
    ...Object.getOwnPropertyDescriptors(server),
    address: { value: `127.0.0.1:${server.port}` },
  }) as TestManager;
}

export interface TestAgent {
  readonly client: WolClient;
  readonly events: WolClientEvent[];
  /** The last list. */
  addresses: ReadonlySet<string> | undefined;
  readonly report: (report?: WakeReport) => Promise<DeliveryOutcome>;
  readonly kinds: () => string[];
}

export async function startAgent(manager: string, tlsDirectory?: string, passwordSecret?: string): Promise<TestAgent> {
  const events: WolClientEvent[] = [];
  const client = new WolClient({
    manager,
    nodeName: 'node-1',
    passwordSecret,
    tlsDirectory,
    observe: (event) => events.push(event),
    onReachable: () => {},
    onAddresses: (addresses) => {
      agent.addresses = addresses;
    },
    certificateCheckMs: 20,
  });
  const agent: TestAgent = {
    client,
    events,
    addresses: undefined,
    report: (report = REPORT) => client.report(report),
    kinds: () => events.map(({ kind }) => kind),
  };
  onTestFinished(() => client.stop());
  await client.start();
  return agent;
}
