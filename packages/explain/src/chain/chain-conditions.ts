/** Translates the conditions of an object to findings about the way to an address. */
import { isReasonAt } from '@vmdhcp/ippool-api/agent';
import { type Condition, type KubernetesObject, readConditions } from '@vmdhcp/kube-runtime';
import { type Finding, finding } from './address-chain.js';
import { type ChainReason, REASON_LINKS } from './reasons.js';

export function conditionOf(object: KubernetesObject | undefined, type: string): Condition | undefined {
  return readConditions(object?.status).find((one) => one.type === type);
}

/** @param isTrouble - true if clients are affected, so that a reason that is otherwise a note is grave here. */
export function findingOf({ reason = '', message = '' }: Condition, isTrouble: boolean): Finding[] {
  if (!isReason(reason)) return [];
  const { gravity } = REASON_LINKS[reason];
  if (!isTrouble) return [finding(reason, message, 'note')];
  return [finding(reason, message, gravity === 'note' ? 'broken' : gravity)];
}

function isReason(text: string): text is ChainReason {
  return Object.hasOwn(REASON_LINKS, text);
}

/** Findings from the Events of an object: reasons that no condition shows. */
export function findingsOfEvents(
  events: readonly { readonly reason: string; readonly message: string }[],
  kind: 'VirtualMachine' | 'IPPool',
  reasons: readonly ChainReason[],
): Finding[] {
  return events.flatMap(({ reason, message }) => {
    const isShown = isReason(reason) && isReasonAt(`Warning Event on ${kind}`, reason) && reasons.includes(reason);
    return isShown ? [finding(reason, message)] : [];
  });
}
