/** Probes a container over HTTP, as a kubelet does. */
import { setTimeout as delay } from 'node:timers/promises';
import { readField, readList, readText } from '@vmdhcp/kube-runtime';

export interface HttpProbe {
  readonly url: string;
  readonly initialDelayMs: number;
  readonly periodMs: number;
  readonly timeoutMs: number;
  /** How many failures in a row count. */
  readonly failureThreshold: number;
}

/** The probe of a container; undefined if it has none over HTTP. @param address - of the pod. */
export function readHttpProbe(
  container: unknown,
  name: 'startupProbe' | 'livenessProbe' | 'readinessProbe',
  address: string,
): HttpProbe | undefined {
  const probe = readField(container, name);
  const request = readField(probe, 'httpGet');
  if (request === undefined) return undefined;
  const seconds = (field: string, usual: number): number => Number(readField(probe, field) ?? usual) * 1000;
  const host = readText(request, 'host') ?? address;
  return {
    url: `http://${host}:${portOf(container, readField(request, 'port'))}${readText(request, 'path') ?? '/'}`,
    initialDelayMs: seconds('initialDelaySeconds', 0),
    periodMs: seconds('periodSeconds', 10),
    timeoutMs: seconds('timeoutSeconds', 1),
    failureThreshold: Number(readField(probe, 'failureThreshold') ?? 3),
  };
}

/** A port may be given by its name. */
function portOf(container: unknown, port: unknown): string {
  const named = readList(container, 'ports').find((one) => readText(one, 'name') === port);
  return String(named === undefined ? port : readField(named, 'containerPort'));
}

/** True for an answer from 200 to 399 in time. */
export async function askProbe({ url, timeoutMs }: HttpProbe): Promise<boolean> {
  return await fetch(url, { signal: AbortSignal.timeout(timeoutMs), redirect: 'manual' })
    .then(({ status }) => status >= 200 && status < 400)
    .catch(() => false);
}

/** The interval until the first success, so that no test waits for a kubelet. */
const FIRST_INTERVAL_MS = 50;

/** Calls `onReadiness` for each change, until the signal. */
export async function followReadiness(
  probe: HttpProbe,
  onReadiness: (ready: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let isReady = false;
  let failures = 0;
  while (!signal.aborted) {
    const isGood = await askProbe(probe);
    failures = isGood ? 0 : failures + 1;
    const wasReady: boolean = isReady;
    isReady = isGood || (wasReady && failures < probe.failureThreshold);
    if (isReady !== wasReady && !signal.aborted) onReadiness(isReady);
    await pause(isReady ? probe.periodMs : FIRST_INTERVAL_MS, signal);
  }
}

/** Resolves with true when the container has passed its probe once, with false when it has failed it too often or at the signal. */
export async function untilStarted(probe: HttpProbe, signal: AbortSignal): Promise<boolean> {
  await pause(probe.initialDelayMs, signal);
  for (let failures = 0; failures < probe.failureThreshold && !signal.aborted; failures++) {
    if (await askProbe(probe)) return true;
    await pause(probe.periodMs, signal);
  }
  return false;
}

/** Resolves with true when the container has failed its probe too often, with false at the signal. */
export async function untilDead(probe: HttpProbe, signal: AbortSignal): Promise<boolean> {
  let failures = 0;
  await pause(probe.initialDelayMs, signal);
  while (!signal.aborted) {
    failures = (await askProbe(probe)) ? 0 : failures + 1;
    if (failures >= probe.failureThreshold) return !signal.aborted;
    await pause(probe.periodMs, signal);
  }
  return false;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
