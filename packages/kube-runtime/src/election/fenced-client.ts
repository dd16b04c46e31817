import type { ObjectClient } from '../api/object-client.js';
import type { ApiObjectLike } from '../object/api-object.js';

/** Thrown instead of writing: leadership has ended, and another process may be leader. */
export class NotLeadingError extends Error {
  readonly code = 'ERR_NOT_LEADING';

  constructor() {
    super('not written: this process is not leader (any more)');
  }
}

/** A client that writes only while `isLeading` is true, asked right before each write. Reads go through. */
export function fencedClient<Kind extends ApiObjectLike>(
  client: ObjectClient<Kind>,
  isLeading: () => boolean,
): ObjectClient<Kind> {
  const fenced =
    <Parameters extends readonly unknown[], Result>(write: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      if (!isLeading()) throw new NotLeadingError();
      return write(...parameters);
    };
  const write = fenced(client.subresource);
  return {
    list: client.list,
    watch: client.watch,
    get: client.get,
    subresource: (call) => (call.verb === 'get' ? client.subresource(call) : write(call)),
    create: fenced(client.create),
    patch: fenced(client.patch),
    patchStatus: fenced(client.patchStatus),
    delete: fenced(client.delete),
  };
}
