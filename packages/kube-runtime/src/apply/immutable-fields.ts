/** Fields that the API server refuses to change once an object exists, by kind, and what can be done instead. */
import { readField, readText } from '../object/read-field.js';

export interface ImmutableField {
  readonly path: readonly string[];
  /** True: the server adds nothing to it, so it has to be the same in both directions. */
  readonly isExact?: boolean;
}

export interface ImmutableFields {
  readonly fields: readonly ImmutableField[];
  /**
   * `replace`: the object is deleted and created again, which loses nothing. `refuse`: that would stop pods or lose data, so it is
   * for a person to decide.
   */
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
/** Of these only an object with `immutable: true`. */
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

/** What cannot be changed of an object as it is now. A kind of the same name in another group is not known here. */
export function immutableFieldsOf(kind: string | undefined, observed: unknown): ImmutableFields {
  const apiVersion = readText(observed, 'apiVersion') ?? '';
  if (!GROUPS.has(apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '')) return NONE;
  const marked = readField(observed, 'immutable') === true ? WHERE_MARKED[kind ?? ''] : undefined;
  return marked ?? BY_KIND[kind ?? ''] ?? NONE;
}
