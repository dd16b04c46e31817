/** Three ways to follow the objects of a kind, each over its own connection to one API server. */
import { type KubernetesObject as ClientObject, type KubernetesListObject, ListWatch, type Watch } from '@kubernetes/client-node';
import { type KubernetesObject, ObjectCache } from '@vmdhcp/kube-runtime';
import { ApiObjectClient, type ApiRequestError, type ApiTransport } from '@vmdhcp/kube-runtime/node';
import type { Random } from '@vmdhcp/kube-runtime/testing';
import type { Scheduler } from '../time/scheduler.js';

/** A report of an informer: the resourceVersion of an object; undefined if it is gone. */
export type OnReported = (name: string, version: string | undefined) => void;

export interface InformerSettings {
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly transport: ApiTransport;
  readonly namespace: string;
  readonly onReported: OnReported;
}

const CONFIG_MAPS = { group: '', version: 'v1', plural: 'configmaps', namespaced: true };
/** As in the README of the client: an informer with an error is restarted after this time. */
const RESTART_MS = 5_000;
/** The client's Watch begins a watch anew after this long without data. */
const INACTIVITY_MS = 30_000;

/** `ObjectCache` of kube-runtime. */
export function startCache({ scheduler, random, transport, namespace, onReported }: InformerSettings): void {
  const cache: ObjectCache<KubernetesObject> = new ObjectCache({
    port: new ApiObjectClient<KubernetesObject>(transport, { ...CONFIG_MAPS, namespace }),
    clock: scheduler,
    backOff: { firstMs: 100, mostMs: 30_000, random: () => random(1_000_000) / 1_000_000 },
    onChange: (key) => onReported(key.split('/')[1] ?? '', cache.get(key)?.metadata.resourceVersion),
  });
  cache.start();
}

/** The informer of `@kubernetes/client-node`. @param isStartedAgain - after an error, as in its README; false for a naive program. */
export function startClientInformer(settings: InformerSettings, isStartedAgain: boolean): void {
  const { scheduler, transport, namespace, onReported } = settings;
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const list = async () => (await transport.request({ method: 'GET', path })) as KubernetesListObject<ClientObject>;
  const informer = new ListWatch<ClientObject>(path, watchOver(settings), list, false, undefined, undefined, {
    delayFn: (ms: number) => scheduler.sleep(ms),
  } as never);
  const report = (object: ClientObject) => onReported(object.metadata?.name ?? '', object.metadata?.resourceVersion);
  informer.on('add', report);
  informer.on('update', report);
  informer.on('delete', ({ metadata }) => onReported(metadata?.name ?? '', undefined));
  informer.on('error', () => {
    if (isStartedAgain) scheduler.after(RESTART_MS, () => void informer.start());
  });
  void informer.start();
}

/** Runs its `Watch`, which uses `fetch`, on a transport of the world, with the same time-out and the same ends. */
function watchOver({ scheduler, transport }: InformerSettings): Watch {
  const watch: Watch['watch'] = async (...[path, query, callback, done]) => {
    const parameters = Object.entries({ watch: 'true', ...query }).map(([key, value]) => [key, String(value)]);
    let isOver = false;
    let callOff: () => void = () => undefined;
    let stop: () => void = () => undefined;
    const finish = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      callOff();
      stop();
      done(error);
    };
    const wait = () => {
      callOff();
      callOff = scheduler.after(INACTIVITY_MS, () => finish(new DOMException('no data', 'TimeoutError')));
    };
    wait();
    stop = transport.stream(
      { path: `${path}?${new URLSearchParams(parameters as [string, string][])}` },
      {
        onLine: (line) => {
          wait();
          const event = JSON.parse(line) as { readonly type: string; readonly object: unknown };
          callback(event.type, event.object, event);
        },
        onEnd: (error) =>
          finish(error === undefined ? null : Object.assign(new Error(), { statusCode: (error as ApiRequestError).status })),
      },
    );
    const controller = new AbortController();
    controller.signal.addEventListener('abort', () => {
      isOver = true;
      callOff();
      stop();
    });
    return controller;
  };
  return { watch } as Watch;
}
