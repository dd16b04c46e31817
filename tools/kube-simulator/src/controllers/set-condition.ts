import type { Condition } from './workload-kinds.js';

/**
 * The conditions with this one. A condition with the same content is left as it is; otherwise the new one goes to the end, and keeps the time of the
 * last transition if the status is the same.
 */
export const setCondition = (conditions: readonly Condition[], condition: Condition): readonly Condition[] => {
  const current = conditions.find(({ type }) => type === condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) return conditions;
  const lastTransitionTime = current?.status === condition.status ? current.lastTransitionTime : condition.lastTransitionTime;
  const kept = lastTransitionTime === undefined ? {} : { lastTransitionTime };
  return [...conditions.filter(({ type }) => type !== condition.type), { ...condition, ...kept }];
};
