import type { ApiObject } from '../api-object.js';
import { forbidden } from '../failures.js';
import { section, textOf } from '../json-parts.js';
import { serviceAccount } from '../resources/core/config-map.js';
import { type ApiCall, type ApiContext, collectionOf, keyOf } from './api-call.js';

/** Every namespace of a real cluster has it; here it may be missing. */
const ALWAYS_THERE = 'default';

/** Refuses a Pod whose ServiceAccount does not exist, as the admission plugin ServiceAccount does. @throws ApiError */
export function assertServiceAccount(context: ApiContext, call: ApiCall, object: ApiObject): void {
  const { type, attributes } = call;
  if (type.group !== '' || type.plural !== 'pods') return;
  const name = textOf(section(object, 'spec')['serviceAccountName']);
  if (name === '' || name === ALWAYS_THERE) return;
  const { namespace } = attributes;
  if (collectionOf(context, serviceAccount).get(keyOf(serviceAccount, namespace, name)) !== undefined) return;
  throw forbidden(type, object.metadata.name ?? '', {
    message: `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`,
  });
}
