/** WolConfigs and virtual machines for tests. */
import type { KubernetesObject } from '@vmdhcp/kube-runtime';
import type { WakeDaemonSetSettings } from '../agents/wake-agent-daemon-set.js';
import type { MachineSource } from '../controller/machine-source.js';
import type { WakeMachine } from '../machine/wake-config.js';
import { type ReadWolConfig, readWolConfig } from './read-wol-config.js';
import { describeWolConfigProblem } from './wol-config-problem.js';

export const AGENT_SETTINGS: WakeDaemonSetSettings = {
  namespace: 'vm-dhcp-system',
  image: 'registry.local/vmdhcp-agent:1',
  imagePullSecrets: [],
  manager: 'vmdhcp-wake-on-lan.vm-dhcp-system.svc:9090',
  tlsSecret: 'vmdhcp-wake-on-lan-agent-tls',
};

/** @param age - a higher number is younger. */
export function wolConfigObject(name: string, spec: Readonly<Record<string, unknown>> = {}, age = 0): KubernetesObject {
  const seconds = String(age).padStart(2, '0');
  return {
    apiVersion: 'wol.pillon.org/v1beta1',
    kind: 'WolConfig',
    metadata: { name, uid: `uid-${name}`, generation: 1, creationTimestamp: `2026-01-01T00:00:${seconds}Z` },
    spec,
  };
}

/** @throws Error if it has problems. */
export function readConfig(name: string, spec: Readonly<Record<string, unknown>> = {}, age = 0): ReadWolConfig {
  const reading = readWolConfig(wolConfigObject(name, spec, age));
  if (!reading.ok) throw new Error(reading.problems.map(describeWolConfigProblem).join('; '));
  return reading.config;
}

/** @param name - `namespace/name`. */
export function wakeMachine(name: string, last: number, labels: Readonly<Record<string, string>> = {}): WakeMachine {
  const [namespace = '', own = ''] = name.split('/', 2);
  return { namespace, name: own, labels, macAddresses: [macEndingIn(last)] };
}

export function macEndingIn(last: number): string {
  const [high, low] = [Math.floor(last / 256), last % 256].map((octet) => octet.toString(16).padStart(2, '0'));
  return `02:00:5e:10:${high}:${low}`;
}

/** Virtual machines that a test can change. */
export class MemoryInventory implements MachineSource {
  readonly #machines = new Map<string, WakeMachine>();
  readonly #listeners = new Set<(key: string) => void>();
  readonly #awaiting = new Set<() => void>();
  #synced = false;

  get synced(): boolean {
    return this.#synced;
  }

  readonly machines = () => this.#machines.values();
  readonly get = (key: string) => this.#machines.get(key);

  readonly onChange = (listener: (key: string) => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly onSynced = (listener: () => void) => {
    if (this.#synced) listener();
    else this.#awaiting.add(listener);
    return () => void this.#awaiting.delete(listener);
  };

  sync(): void {
    this.#synced = true;
    for (const listener of this.#awaiting) listener();
  }

  set(machine: WakeMachine): void {
    this.#machines.set(`${machine.namespace}/${machine.name}`, machine);
    this.#tell(`${machine.namespace}/${machine.name}`);
  }

  delete(key: string): void {
    this.#machines.delete(key);
    this.#tell(key);
  }

  #tell(key: string): void {
    for (const listener of this.#listeners) listener(key);
  }
}
