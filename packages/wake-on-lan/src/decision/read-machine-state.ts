/** Reads the state of a VirtualMachine and its VirtualMachineInstance for a wake-up. Never throws. */
import { isBeingDeleted, isOwnedByAnother, readField, readList, readText } from '@vmdhcp/kube-runtime';
import type { InstanceState, MachineState, RunStrategy } from '../machine/plan-wake-up.js';
import type { LiveMachine } from './wake-ports.js';

/**
 * The state of a machine. An instance of an earlier machine with the same name counts, because KubeVirt starts no second one
 * beside it.
 */
export function readMachineState({ virtualMachine, instance }: LiveMachine): MachineState {
  const requests = readList(virtualMachine.status, 'stateChangeRequests').map((request) => readText(request, 'action'));
  return {
    runStrategy: runStrategyOf(virtualMachine.spec),
    printableStatus: readText(virtualMachine.status, 'printableStatus'),
    isBeingDeleted: isBeingDeleted(virtualMachine),
    startRequested: requests.includes('Start'),
    stopRequested: requests.includes('Stop'),
    instance: instanceStateOf({ virtualMachine, instance }),
  };
}

const STRATEGIES: ReadonlySet<string> = new Set(['Always', 'Halted', 'Manual', 'Once', 'RerunOnFailure'] satisfies RunStrategy[]);

/** Source: KubeVirt, `VirtualMachine.RunStrategy()`: without either field it is `Halted`. */
function runStrategyOf(spec: unknown): RunStrategy | undefined {
  const text = readText(spec, 'runStrategy');
  if (text !== undefined) return isRunStrategy(text) ? text : undefined;
  return readField(spec, 'running') === true ? 'Always' : 'Halted';
}

function isRunStrategy(text: string): text is RunStrategy {
  return STRATEGIES.has(text);
}

function instanceStateOf({ virtualMachine, instance }: LiveMachine): InstanceState {
  if (instance === undefined) return 'none';
  const phase = readText(instance.status, 'phase');
  if (phase === 'Succeeded') return 'succeeded';
  if (phase === 'Failed') return 'failed';
  return isBeingDeleted(instance) || isOwnedByAnother(instance, { kind: 'VirtualMachine', uid: virtualMachine.metadata.uid })
    ? 'stopping'
    : 'active';
}
