import type { MergePatch, ObjectClient, SubresourceCall, WriteTarget } from '../api/object-client.js';
import type { ApiObjectLike } from '../object/api-object.js';

/** Thrown instead of writing: leadership has ended, and another process may be leader. */
export class NotLeadingError extends Error {
  readonly code = 'ERR_NOT_LEADING';

  constructor() {
    super('not written: this process is not leader (any more)');
  }
}

/**
 * A client that writes only while `isLeading` returns true. It is called right before each write and again right before the request is sent. Reads
 * are always passed on.
 */
export function fencedClient<Kind extends ApiObjectLike>(
  unfenced: ObjectClient<Kind>,
  isLeading: () => boolean,
): ObjectClient<Kind> {
  const client = unfenced.guarded?.(isLeading) ?? unfenced;
  // Called as methods: a client may be an object of a class.
  const fenced =
    <Parameters extends readonly unknown[], Result>(write: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (!isLeading()) throw new NotLeadingError();
      return write(...parameters);
    };
  const write = fenced((call: SubresourceCall) => client.subresource(call));
  return {
    list: (options) => client.list(options),
    watch: (resourceVersion, handlers) => client.watch(resourceVersion, handlers),
    get: (key) => client.get(key),
    subresource: (call) => (call.verb === 'get' ? client.subresource(call) : write(call)),
    create: fenced((object: Kind) => client.create(object)),
    patch: fenced((target: WriteTarget, patch: MergePatch) => client.patch(target, patch)),
    patchStatus: fenced((target: WriteTarget, patch: MergePatch) => client.patchStatus(target, patch)),
    delete: fenced((key: string, uid: string, resourceVersion?: string) => client.delete(key, uid, resourceVersion)),
  };
}
