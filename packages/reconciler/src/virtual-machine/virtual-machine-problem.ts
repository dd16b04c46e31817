/** Problems of a virtual machine that its owner should fix. */

import type { NotServedReason } from '../network/interface-reach.js';

export type VirtualMachineProblemReason =
  | 'template-missing'
  | 'mac-address-annotation-unreadable'
  | 'mac-address-unreadable'
  | 'mac-address-twice'
  | 'static-address-unreadable'
  | 'static-address-without-interface'
  | 'pinned-addresses-unreadable'
  | 'pinned-addresses-surplus'
  | 'opt-out-without-interface'
  | 'network-name-too-long'
  | 'too-many-interfaces'
  | 'virtual-machine-instances-unreadable'
  | 'virtual-machine-instance-unseen'
  | NotServedReason;

export interface VirtualMachineProblem {
  readonly reason: VirtualMachineProblemReason;
  /** What is wrong, where, and what to do. */
  readonly message: string;
}

/** A part of a virtual machine by name, because its position in a list depends on the version of the object. */
export interface WrittenPlace {
  readonly part: 'annotation' | 'template-annotation' | 'interface' | 'network' | 'template';
  /** Key of the annotation, name of the interface or network; empty for the template. */
  readonly name: string;
  /** The interface that the wrong part of an annotation is about; absent if it concerns the whole virtual machine. */
  readonly interfaceName?: string;
}

/** The same, if the owner wrote it into the virtual machine. */
export interface WrittenProblem extends VirtualMachineProblem {
  readonly place: WrittenPlace;
  readonly value: unknown;
  /** The message without the remedy. */
  readonly fault: string;
  readonly remedy: string;
}

export function toProblem(
  reason: VirtualMachineProblemReason,
  field: Pick<WrittenProblem, 'place' | 'value' | 'fault' | 'remedy'>,
): WrittenProblem {
  return { reason, ...field, message: `${field.fault}; ${field.remedy}` };
}
