import { type ApiResource, type KubernetesObject, NotLeadingError, type WriteResult } from '@vmdhcp/kube-runtime';
import { describe, expect, it } from 'vitest';
import { kubevirtRequests } from './kubevirt-requests.js';

const VM = { metadata: { namespace: 'lab', name: 'vm-a' } };
const INSTANCE = { ...VM, status: { phase: 'Running' } };

class RequestError extends Error {
  readonly status: number;

  constructor(message: string, status = 0) {
    super(message);
    this.status = status;
  }
}

interface Answers {
  readonly get?: (resource: ApiResource) => KubernetesObject | undefined;
  readonly put?: () => WriteResult<unknown>;
}

/** The requests, and their targets. */
function requestsWith({ get = () => undefined, put = () => ({ ok: true, object: undefined }) }: Answers) {
  const asked: string[] = [];
  const requests = kubevirtRequests(
    (resource) => ({
      get: async () => get(resource),
      subresource: async ({ key, name, verb, body }) => {
        asked.push(`${verb} ${resource.group}/${resource.version} ${resource.plural} ${key}/${name} ${JSON.stringify(body)}`);
        return put();
      },
    }),
    (error) => (error instanceof RequestError ? error.status : undefined),
  );
  return { asked, requests };
}

describe('requests to KubeVirt', () => {
  it('start and unpause are subresources of KubeVirt itself', async () => {
    const { asked, requests } = requestsWith({});
    expect([await requests.start('lab/vm-a'), await requests.unpause('lab/vm-a')]).toEqual([{ ok: true }, { ok: true }]);
    expect(asked).toEqual([
      'update subresources.kubevirt.io/v1 virtualmachines lab/vm-a/start {}',
      'update subresources.kubevirt.io/v1 virtualmachineinstances lab/vm-a/unpause {}',
    ]);
  });

  it('a machine is read with its instance; a deleted machine is undefined', async () => {
    const { requests } = requestsWith({ get: ({ plural }) => (plural === 'virtualmachines' ? VM : INSTANCE) });
    expect(await requests.readMachine('lab/vm-a')).toEqual({ ok: true, machine: { virtualMachine: VM, instance: INSTANCE } });
    const { requests: gone } = requestsWith({});
    expect(await gone.readMachine('lab/vm-a')).toEqual({ ok: true, machine: undefined });
  });

  it.each([
    ['conflict', 409],
    ['forbidden', 403],
    ['not-found', 404],
    ['invalid', 422],
  ] as const)('a refusal (%s) is HTTP %i, and is not tried again', async (reason, status) => {
    const { requests } = requestsWith({ put: () => ({ ok: false, reason, message: 'no' }) });
    expect(await requests.start('lab/vm-a')).toEqual({ ok: false, status, message: 'no', canRetry: false });
  });

  it.each([
    [undefined, 0, true],
    [429, 429, true],
    [503, 503, true],
    [401, 401, false],
    [403, 403, false],
  ])('an error with the HTTP status %s is %i; worth a retry: %s', async (status, expected, canRetry) => {
    const fail = () => {
      throw new RequestError('text', status);
    };
    const { requests } = requestsWith({ get: fail, put: fail });
    const failure = { ok: false, status: expected, message: 'text', canRetry };
    expect([await requests.start('lab/vm-a'), await requests.readMachine('lab/vm-a')]).toEqual([failure, failure]);
  });

  it('a fenced request is a failure, and a bug is thrown', async () => {
    const { requests } = requestsWith({
      put: () => {
        throw new NotLeadingError();
      },
    });
    expect(await requests.start('lab/vm-a')).toMatchObject({ ok: false, status: 0, canRetry: true });
    const { requests: broken } = requestsWith({
      get: () => {
        throw new TypeError('a bug');
      },
    });
    await expect(broken.readMachine('lab/vm-a')).rejects.toThrow('a bug');
  });
});
