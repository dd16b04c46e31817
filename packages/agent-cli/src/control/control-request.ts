/**
 * What is asked over the control socket, and how the answer begins. A request is one line of JSON; the answer is one line of JSON, and then what was asked
 * for, until the connection ends.
 */
import { isRecord } from '@vmdhcp/kube-runtime';

export interface ControlRequest {
  readonly ask: 'clients';
  /** Only of this pool. */
  readonly pool?: string | undefined;
  /** Only of this client, canonical. */
  readonly mac?: string | undefined;
}

export type ControlAnswer = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** Undefined: it is none that this version knows. */
export function parseControlRequest(line: string): ControlRequest | undefined {
  const value = parseJson(line);
  if (!isRecord(value) || value['ask'] !== 'clients') return undefined;
  return { ask: 'clients', pool: textOf(value['pool']), mac: textOf(value['mac']) };
}

/** Undefined: what answers is no agent of a version that this one knows. */
export function parseControlAnswer(line: string): ControlAnswer | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  if (value['ok'] === true) return { ok: true };
  const problem = textOf(value['problem']);
  return problem === undefined ? undefined : { ok: false, problem };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
