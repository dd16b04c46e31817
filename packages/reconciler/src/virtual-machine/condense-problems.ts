import { describeProblems } from '@vmdhcp/kube-runtime';
import type { VirtualMachineProblem } from './virtual-machine-problem.js';

/**
 * Combines the problems with the same reason into one, with the first three messages and the number of others. A virtual machine with hundreds of
 * interfaces must not use up the Events of others.
 */
export function condenseProblems(problems: readonly VirtualMachineProblem[]): VirtualMachineProblem[] {
  const messages = new Map<VirtualMachineProblem['reason'], string[]>();
  for (const { reason, message } of problems) {
    const ofReason = messages.get(reason);
    if (ofReason === undefined) messages.set(reason, [message]);
    else ofReason.push(message);
  }
  return [...messages].map(([reason, [first = '', ...others]]) => ({
    reason,
    message: others.length === 0 ? first : describeProblems([first, ...others], { most: 3, longest: MOST_OCTETS }),
  }));
}

/** Three of them and the count fit into an Event. */
const MOST_OCTETS = 300;
