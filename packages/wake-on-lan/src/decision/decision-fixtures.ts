/**
 * A manager for tests: machines as plain values, an API server whose responses the test decides, and everything that the decision
 * did.
 */

import type { EventOf } from '@vmdhcp/ippool-api';
import type { EventRegarding, KubernetesObject } from '@vmdhcp/kube-runtime';
import { FakeClock } from '@vmdhcp/kube-runtime/testing';
import { hasLostAddress } from '@vmdhcp/reconciler';
import type { WakeConfig, WakeMachine } from '../machine/wake-config.js';
import { wakeable } from '../machine/wakeable.js';
import type { ReportOutcome, WakeAnswer, WakeReport } from '../report/wake-report.js';
import { WakeDecider } from './wake-decider.js';
import type { CallFailure, CallResult, DecidedReport, LiveMachine, WakePorts } from './wake-ports.js';

export const MAC_A = '02:00:00:00:00:0a';
export const MAC_B = '02:00:00:00:00:0b';
export const VM_A: WakeMachine = { namespace: 'lab', name: 'vm-a', uid: 'uid-vm-a', labels: {}, macAddresses: [MAC_A] };
export const VM_B: WakeMachine = { namespace: 'lab', name: 'vm-b', labels: {}, macAddresses: [MAC_B] };
const ALL: WakeConfig = { name: 'everything', namespaces: ['lab'], mode: 'All' };

export interface RawMachine {
  readonly runStrategy?: string;
  readonly running?: boolean;
  readonly printableStatus?: string;
  readonly requests?: readonly ('Start' | 'Stop')[];
  readonly isBeingDeleted?: boolean;
  /** MAC addresses of the interfaces in the template, undefined if KubeVirt chooses one. Default: there is no template. */
  readonly template?: readonly (string | undefined)[];
  /** Phase of the instance; undefined if there is none. */
  readonly phase?: string;
  readonly isInstanceBeingDeleted?: boolean;
}

const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' };

function liveMachine(key: string, raw: RawMachine): LiveMachine {
  const [namespace = '', name = ''] = key.split('/');
  return { virtualMachine: virtualMachine({ namespace, name }, raw), instance: instance({ namespace, name }, raw) };
}

interface Name {
  readonly namespace: string;
  readonly name: string;
}

function virtualMachine({ namespace, name }: Name, raw: RawMachine): KubernetesObject {
  const { runStrategy, running, printableStatus, requests = [] } = raw;
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace, name, uid: `uid-${name}`, ...(raw.isBeingDeleted === true && DELETED) },
    spec: {
      ...(runStrategy !== undefined && { runStrategy }),
      ...(running !== undefined && { running }),
      ...(raw.template !== undefined && {
        template: { spec: { domain: { devices: { interfaces: interfacesOf(raw.template) } } } },
      }),
    },
    status: {
      ...(printableStatus !== undefined && { printableStatus }),
      ...(requests.length > 0 && { stateChangeRequests: requests.map((action) => ({ action })) }),
    },
  };
}

function interfacesOf(macAddresses: readonly (string | undefined)[]): readonly object[] {
  return macAddresses.map((macAddress, index) => ({ name: `nic-${index}`, ...(macAddress !== undefined && { macAddress }) }));
}

function instance({ namespace, name }: Name, { phase, isInstanceBeingDeleted }: RawMachine): KubernetesObject | undefined {
  if (phase === undefined) return undefined;
  return { metadata: { namespace, name, ...(isInstanceBeingDeleted === true && DELETED) }, status: { phase } };
}

export function reportOf(macAddress: string, more: Partial<WakeReport> = {}): WakeReport {
  return {
    ...{ macAddress, nodeName: 'node-1', sender: '10.0.0.9', senderPort: 40_000, packetSize: 102, heardAtMs: 1_000_000 },
    ...more,
  };
}

export interface RecordedEvent extends Omit<EventOf<'VirtualMachine'>, 'reason'> {
  readonly reason: string;
  readonly about: string;
}

/** A manager that is leader and synced; a test may change this. */
export class DecisionWorld {
  readonly clock = new FakeClock();
  readonly machines = new Map<string, RawMachine | CallFailure>();
  /** Requests in order: `read lab/vm-a`, `start lab/vm-a`. */
  readonly calls: string[] = [];
  readonly events: RecordedEvent[] = [];
  readonly answers: DecidedReport[] = [];
  readonly waitsOver: DecidedReport[] = [];
  readonly log: string[] = [];
  readonly faults: unknown[] = [];
  isLeading = true;
  leader: string | undefined = '10.1.0.2:9090';
  unpauses = false;
  configs: readonly WakeConfig[] = [ALL];
  inventory: readonly WakeMachine[] = [VM_A, VM_B];
  isSynced = true;
  /** The effect of a request; default: it succeeds, and the machine starts. */
  onStart: (key: string) => CallResult | Promise<CallResult> = (key) => {
    this.machines.set(key, { runStrategy: 'Manual', printableStatus: 'Starting', phase: 'Scheduling' });
    return { ok: true };
  };
  /** Called right before a read is answered. */
  onRead: (key: string) => void | Promise<void> = () => undefined;
  readonly ports: WakePorts = this.#createPorts();
  readonly decider = new WakeDecider(this.ports);

  /** The answer; fails if there is none. */
  async ask(macAddress: string, more: Partial<WakeReport> = {}): Promise<WakeAnswer> {
    const outcome = await this.report(macAddress, more);
    if (outcome.kind !== 'answered') throw new Error(`no answer: ${JSON.stringify(outcome)}`);
    return outcome.answer;
  }

  report(macAddress: string, more: Partial<WakeReport> = {}): Promise<ReportOutcome> {
    return this.decider.report(reportOf(macAddress, more));
  }

  #createPorts(): WakePorts {
    const isLeading = () => this.isLeading;
    return {
      clock: this.clock,
      wallTimeMs: () => 1_000_000 + this.clock.nowMs(),
      isLeading,
      leaderAddress: () => this.leader,
      index: this.#createIndex(),
      policyOf: () => ({ unpauses: this.unpauses }),
      hasLostAddress,
      readMachine: async (key) => {
        this.calls.push(`read ${key}`);
        await this.onRead(key);
        const machine = this.machines.get(key);
        if (machine !== undefined && 'ok' in machine) return machine;
        return { ok: true, machine: machine && liveMachine(key, machine) };
      },
      start: async (key) => {
        this.calls.push(`start ${key}`);
        return this.onStart(key);
      },
      unpause: async (key) => {
        this.calls.push(`unpause ${key}`);
        return this.onStart(key);
      },
      record: ({ namespace, name }: EventRegarding, event) => this.events.push({ ...event, about: `${namespace}/${name}` }),
      observer: {
        onReport: ({ macAddress }) => this.log.push(`report ${macAddress}`),
        onStarting: (key) => this.log.push(`starting ${key}`),
        onAnswer: (decided) => this.answers.push(decided),
        onWaitOver: (decided) => this.waitsOver.push(decided),
        onFault: (error) => this.faults.push(error),
      },
    };
  }

  #createIndex(): WakePorts['index'] {
    const isSynced = () => this.isSynced;
    let built: { readonly of: readonly unknown[]; readonly index: ReturnType<typeof wakeable> } | undefined;
    const index = () => {
      const of = [this.configs, this.inventory];
      if (built === undefined || of.some((one, place) => one !== built?.of[place]))
        built = { of, index: wakeable(this.configs, this.inventory) };
      return built.index;
    };
    return {
      get synced() {
        return isSynced();
      },
      find: (macAddress, passwordSecret) => index().findForPacket(macAddress, passwordSecret),
    };
  }
}
