import type { ClusterReader } from '@vmdhcp/explain/observe';
import type { ApiResource, KubernetesObject } from '@vmdhcp/kube-runtime';
import { ApiRequestError, systemClock } from '@vmdhcp/kube-runtime/node';
import { MemoryResource } from '@vmdhcp/kube-runtime/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { agentsKind } from '../output/agent-rows.js';
import { watchList } from './watch-list.js';

const stopping = vi.hoisted(() => ({ controller: new AbortController() }));
vi.mock('@vmdhcp/service-process', async (original) => ({
  ...(await original<object>()),
  stopSignal: () => stopping.controller.signal,
}));

const FORGED = {
  metadata: {
    namespace: 'a-tenant',
    name: 'forged',
    annotations: { 'network.harvesterhci.io/agent-report': '{"default/one":{"serving":true}}' },
  },
  spec: { holderIdentity: 'forged-pod_x', leaseDurationSeconds: 3600, renewTime: new Date().toISOString() },
} satisfies KubernetesObject;

const IP_POOL = { metadata: { namespace: 'default', name: 'one' }, status: {} } satisfies KubernetesObject;

function resource(): MemoryResource<KubernetesObject> {
  return new MemoryResource<KubernetesObject>(systemClock);
}

function forbidden(): ApiRequestError {
  return new ApiRequestError('forbidden', { status: 403 });
}

/** IPPools that are listed once; each watch of them is refused. */
function refusedLater(): object {
  return {
    list: () => Promise.resolve({ items: [], resourceVersion: '1' }),
    watch: (_version: string, { onEnd }: { readonly onEnd: (end: object) => void }) => {
      const callOff = systemClock.after(50, () => onEnd({ kind: 'failed', error: forbidden() }));
      return callOff;
    },
  };
}

/** The output of `agents --watch` in that time. */
async function watched(
  { leases, ipPools, isNamed }: { readonly leases: object; readonly ipPools: object; readonly isNamed: boolean },
  waitMs: number,
): Promise<{ readonly printed: string; readonly errors: string }> {
  const client = ({ plural }: ApiResource) => (plural === 'ippools' ? ipPools : leases);
  const reader = { client, nowMs: Date.now() } as unknown as ClusterReader;
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const watching = watchList(reader, agentsKind(isNamed), 'table');
  await waitFor(waitMs);
  stopping.controller.abort();
  await watching;
  return { printed: textOf(output.mock.calls), errors: textOf(errors.mock.calls) };
}

function waitFor(delayMs: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(delayMs, resolve));
}

function textOf(calls: readonly (readonly unknown[])[]): string {
  return calls.map(([text]) => String(text)).join('');
}

describe('watched agents', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    stopping.controller = new AbortController();
  });

  it.each([[[]], [[IP_POOL]]])('a Lease that no IPPool names is not listed: %j', async (stored) => {
    const [leases, ipPools] = [resource(), resource()];
    await leases.create(FORGED);
    for (const one of stored) await ipPools.create(one);
    const { printed } = await watched({ leases, ipPools, isNamed: false }, 300);
    expect(printed).toContain('NAMESPACE');
    expect(printed).not.toContain('forged');
  });

  it('without the right to list IPPools: each Lease of the named namespace', async () => {
    const leases = resource();
    await leases.create(FORGED);
    const ipPools = { list: () => Promise.reject(forbidden()) };
    const { printed, errors } = await watched({ leases, ipPools, isNamed: true }, 300);
    expect(printed).toContain('forged-pod');
    expect(errors).toBe('');
  });

  it('the right to IPPools is revoked: one line says so, and Leases are watched once', async () => {
    const leases = resource();
    const { printed, errors } = await watched({ leases, ipPools: refusedLater(), isNamed: true }, 2_500);
    expect(leases.requests).toMatchObject({ lists: 1, watches: 1 });
    expect(errors.match(/ippools/g)).toHaveLength(1);
    expect(printed.match(/NAMESPACE/g)).toHaveLength(1);
  });
});
