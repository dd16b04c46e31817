/**
 * Models KubeVirt as far as a wake-up sees it: virt-api, which accepts start requests, and virt-controller, which acts on them
 * later and reports later still.
 * Source: virt-api, `StartVMRequestHandler`, `UnpauseVMIRequestHandler`; virt-controller, `syncRunStrategy`,
 * `setPrintableStatus`, `isTrimFirstChangeRequestNeeded`.
 */
import type { Clock, KubernetesObject } from '@vmdhcp/kube-runtime';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { CallResult, LiveMachine } from './wake-ports.js';

export type ModelState = 'stopped' | 'running' | 'stopping' | 'paused';

interface Instance {
  /** Empty if it was not processed yet. */
  phase: '' | 'Scheduling' | 'Running';
  isBeingDeleted: boolean;
  isPaused: boolean;
}

interface Machine {
  runStrategy: string;
  requests: ('Start' | 'Stop')[];
  instance: Instance | undefined;
  /** The last report of virt-controller. */
  printableStatus: string;
  /** Accepted start requests. */
  taken: number;
  created: number;
  unpaused: number;
}

export class KubeVirtModel {
  readonly #machines = new Map<string, Machine>();
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  /** A machine in this state; a stopping machine is down within a minute. */
  add(key: string, runStrategy: string, state: ModelState): void {
    const machine: Machine = {
      runStrategy,
      requests: [],
      instance: undefined,
      printableStatus: '',
      taken: 0,
      created: 0,
      unpaused: 0,
    };
    if (state !== 'stopped')
      machine.instance = { phase: 'Running', isBeingDeleted: state === 'stopping', isPaused: state === 'paused' };
    this.#machines.set(key, machine);
    this.#report(machine);
    if (state === 'stopping') this.#clock.after(1_000 + this.#random(60_000), () => this.#goDown(machine));
  }

  /** How many start requests were accepted, how often it was started, and how often it was unpaused. */
  countsOf(key: string): Readonly<Pick<Machine, 'taken' | 'created' | 'unpaused'>> {
    return this.#machine(key);
  }

  /** A person shuts it down, and it is down at once. */
  shutDown(key: string): void {
    const machine = this.#machine(key);
    // KubeVirt made `Always` of `Halted`, and makes it `Halted` again.
    if (machine.runStrategy === 'Always') machine.runStrategy = 'Halted';
    this.#goDown(machine);
  }

  read(key: string): LiveMachine {
    const { runStrategy, requests, printableStatus, instance } = this.#machine(key);
    const [namespace = '', name = ''] = key.split('/');
    const virtualMachine: KubernetesObject = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { namespace, name, uid: `uid-${name}` },
      spec: { runStrategy },
      status: { printableStatus, stateChangeRequests: requests.map((action) => ({ action })) },
    };
    return { virtualMachine, instance: instance && toObject({ namespace, name }, instance) };
  }

  start(key: string): CallResult {
    const machine = this.#machine(key);
    const { runStrategy, requests, instance } = machine;
    if (instance !== undefined && instance.phase !== '') return refused(409, 'VM is already running');
    if (runStrategy === 'Always' || runStrategy === 'Once')
      return refused(409, `${runStrategy} does not support manual start requests`);
    if (runStrategy === 'Halted') machine.runStrategy = 'Always';
    else if (requests.length > 0) return refused(500, 'unable to complete request: stop/start already underway');
    else requests.push('Start');
    machine.taken++;
    this.#clock.after(this.#random(2_000), () => this.#create(machine));
    return { ok: true };
  }

  unpause(key: string): CallResult {
    const machine = this.#machine(key);
    const { instance } = machine;
    if (instance?.isPaused !== true) return refused(409, 'VMI is not paused');
    instance.isPaused = false;
    machine.unpaused++;
    this.#clock.after(this.#random(1_000), () => this.#report(machine));
    return { ok: true };
  }

  #machine(key: string): Machine {
    const machine = this.#machines.get(key);
    if (machine === undefined) throw new Error(`no machine ${key}`);
    return machine;
  }

  #create(machine: Machine): void {
    const isWanted = machine.runStrategy === 'Always' || machine.requests.includes('Start');
    if (isWanted && machine.instance === undefined) {
      machine.created++;
      const instance: Instance = { phase: '', isBeingDeleted: false, isPaused: false };
      machine.instance = instance;
      this.#clock.after(this.#random(1_000), () => this.#goOn(machine, instance, 'Scheduling'));
      this.#clock.after(1_000 + this.#random(20_000), () => this.#goOn(machine, instance, 'Running'));
    }
    this.#clock.after(this.#random(2_000), () => this.#report(machine));
  }

  #goOn(machine: Machine, instance: Instance, phase: Instance['phase']): void {
    if (machine.instance !== instance) return;
    instance.phase = phase;
    this.#clock.after(this.#random(1_000), () => this.#report(machine));
  }

  #goDown(machine: Machine): void {
    machine.instance = undefined;
    this.#clock.after(this.#random(1_000), () => this.#report(machine));
  }

  /** One write: the state, and removal of completed requests. */
  #report(machine: Machine): void {
    const { instance } = machine;
    if (instance !== undefined) machine.requests = machine.requests.filter((action) => action !== 'Start');
    machine.printableStatus = stateOf(machine);
  }
}

function stateOf({ instance, runStrategy, requests }: Machine): string {
  if (instance === undefined) return runStrategy === 'Always' || requests.includes('Start') ? 'Starting' : 'Stopped';
  if (instance.isBeingDeleted) return 'Stopping';
  if (instance.phase !== 'Running') return 'Starting';
  return instance.isPaused ? 'Paused' : 'Running';
}

function toObject(
  name: { readonly namespace: string; readonly name: string },
  { phase, isBeingDeleted }: Instance,
): KubernetesObject {
  const metadata = { ...name, ...(isBeingDeleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) };
  return { metadata, status: phase === '' ? {} : { phase } };
}

function refused(status: number, message: string): CallResult {
  return { ok: false, status, message, canRetry: status >= 500 };
}
