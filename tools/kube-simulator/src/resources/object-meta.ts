import { always, anything, flag, int64, list, map, pointer, struct, text, time } from './go-type.js';

const ownerReference = struct('OwnerReference', {
  apiVersion: always(text),
  kind: always(text),
  name: always(text),
  uid: always(text),
  controller: pointer(flag),
  blockOwnerDeletion: pointer(flag),
});

/** metav1.ObjectMeta. */
export const objectMeta = struct('ObjectMeta', {
  name: text,
  generateName: text,
  namespace: text,
  selfLink: text,
  uid: text,
  resourceVersion: text,
  generation: int64,
  creationTimestamp: time,
  deletionTimestamp: time,
  deletionGracePeriodSeconds: pointer(int64),
  labels: map(text),
  annotations: map(text),
  ownerReferences: list(ownerReference),
  finalizers: list(text),
  managedFields: list(anything),
});

/** metav1.LabelSelector. */
export const labelSelector = struct('LabelSelector', {
  matchLabels: map(text),
  matchExpressions: list(struct('LabelSelectorRequirement', { key: always(text), operator: always(text), values: list(text) })),
});
