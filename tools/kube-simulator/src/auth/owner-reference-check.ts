/**
 * Who may set the owners of an object: OwnerReferencesPermissionEnforcement, which OpenShift enables and a plain cluster does not by default. A
 * client that makes an object block the deletion of its owner must be allowed to set the finalizers of the owner, and one that changes the owners of
 * a stored object to delete that object.
 *
 * Source: k8s.io/kubernetes/plugin/pkg/admission/gc/gc_admission.go.
 */
import type { ApiError } from '../api-error.js';
import type { ApiObject } from '../api-object.js';
import { forbidden } from '../failures.js';
import type { Audit } from '../request/audit.js';
import type { Admission, AdmissionRequest, RequestAttributes } from '../request/request-chain.js';
import type { ResourceRegistry } from '../resources/resource-registry.js';
import { authorize } from './authorize.js';
import type { Policy } from './policy.js';

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly blockOwnerDeletion?: boolean;
}

export interface OwnerReferenceCheckSettings {
  readonly policy: Policy;
  readonly registry: Pick<ResourceRegistry, 'ofKind'>;
  /** Checks each right as a request, so that the audit shows it as used. */
  readonly audit: Pick<Audit, 'record'>;
}

/** Checks the owners of objects, in addition to another admission. */
export class OwnerReferenceCheck implements Admission {
  readonly #next: Admission;
  readonly #settings: OwnerReferenceCheckSettings;

  constructor(next: Admission, settings: OwnerReferenceCheckSettings) {
    this.#next = next;
    this.#settings = settings;
  }

  mutate(request: AdmissionRequest): ReturnType<Admission['mutate']> {
    return this.#next.mutate(request);
  }

  validate(request: AdmissionRequest): ReturnType<Admission['validate']> {
    if (request.object !== undefined && request.attributes.subresource === '') this.#check(request, request.object);
    return this.#next.validate(request);
  }

  #check({ attributes, type, oldObject }: AdmissionRequest, object: ApiObject): void {
    const [now, before] = [ownersOf(object), ownersOf(oldObject)];
    if (JSON.stringify(now) === JSON.stringify(before)) return;
    const { name = '' } = object.metadata;
    const refuse = (message: string): ApiError => forbidden(type, name, { message });
    if (oldObject !== undefined && !this.#may({ ...attributes, verb: 'delete', name }))
      throw refuse("cannot set an ownerRef on a resource you can't delete: , <nil>");
    const known = new Set(before.filter(isBlocking).map(({ uid }) => uid));
    for (const owner of now.filter((one) => isBlocking(one) && !known.has(one.uid))) {
      const { apiVersion, kind } = owner;
      const ownerType = this.#settings.registry.ofKind(apiVersion, kind);
      if (ownerType === undefined)
        throw refuse(
          `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
        );
      const { group, version, plural: resource, namespaced } = ownerType;
      const namespace = namespaced ? attributes.namespace : '';
      const asked = {
        ...attributes,
        verb: 'update',
        group,
        version,
        resource,
        subresource: 'finalizers',
        namespace,
        name: owner.name,
      };
      if (!this.#may(asked))
        throw refuse(
          "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
        );
    }
  }

  #may(asked: RequestAttributes): boolean {
    const { policy, audit } = this.#settings;
    const { allowed } = authorize(asked, policy);
    audit.record(asked, allowed);
    return allowed;
  }
}

function ownersOf(object: ApiObject | undefined): readonly Owner[] {
  return (object?.metadata['ownerReferences'] as readonly Owner[] | undefined) ?? [];
}

function isBlocking({ blockOwnerDeletion }: Owner): boolean {
  return blockOwnerDeletion === true;
}
