/** Fields that the API server refuses to change once an object exists, by kind, and what can be done instead. */
import { readField, readText } from '../object/read-field.js';

/** A field that the API server does not change in an object that exists. */
export interface ImmutableField {
  readonly path: readonly string[];
  /** True if the server adds nothing to the field, so that both sides must be equal. */
  readonly isExact?: boolean;
}

/** The fields of a kind that cannot change, and what to do where one must. */
export interface ImmutableFields {
  readonly fields: readonly ImmutableField[];
  /** `replace`: delete the object and create it again, which loses nothing. `refuse`: that would stop pods or lose data, so a person must decide. */
  readonly remedy: 'replace' | 'refuse';
}

const NONE: ImmutableFields = { fields: [], remedy: 'refuse' };
const spec = (...names: readonly string[]): ImmutableField[] => names.map((name) => ({ path: ['spec', name] }));
const selector: ImmutableField = { path: ['spec', 'selector'], isExact: true };
const binding: ImmutableFields = { fields: [{ path: ['roleRef'] }], remedy: 'replace' };

const BY_KIND: Readonly<Record<string, ImmutableFields>> = {
  Deployment: { fields: [selector], remedy: 'refuse' },
  DaemonSet: { fields: [selector], remedy: 'refuse' },
  StatefulSet: { fields: [selector, ...spec('serviceName', 'podManagementPolicy', 'volumeClaimTemplates')], remedy: 'refuse' },
  PersistentVolumeClaim: {
    fields: spec('accessModes', 'storageClassName', 'volumeName', 'volumeMode', 'selector', 'dataSource', 'dataSourceRef'),
    remedy: 'refuse',
  },
  Job: { fields: [{ path: ['spec', 'selector'] }, ...spec('template', 'completionMode')], remedy: 'refuse' },
  Service: { fields: spec('clusterIP'), remedy: 'refuse' },
  RoleBinding: binding,
  ClusterRoleBinding: binding,
};
/** Objects of these kinds are immutable only with `immutable: true`. */
const WHERE_MARKED: Readonly<Record<string, ImmutableFields>> = {
  ConfigMap: {
    fields: [
      { path: ['data'], isExact: true },
      { path: ['binaryData'], isExact: true },
    ],
    remedy: 'replace',
  },
  Secret: { fields: [{ path: ['data'], isExact: true }, { path: ['type'] }], remedy: 'replace' },
};

const GROUPS: ReadonlySet<string> = new Set(['', 'apps', 'batch', 'rbac.authorization.k8s.io']);

/** The immutable fields of an object. A kind of the same name in another group has none here. */
export function immutableFieldsOf(kind: string | undefined, observed: unknown): ImmutableFields {
  const apiVersion = readText(observed, 'apiVersion') ?? '';
  if (!GROUPS.has(apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '')) return NONE;
  const marked = readField(observed, 'immutable') === true ? WHERE_MARKED[kind ?? ''] : undefined;
  return marked ?? BY_KIND[kind ?? ''] ?? NONE;
}
