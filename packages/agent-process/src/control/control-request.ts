/**
 * Requests over the control socket, and the first line of the response. A request is one line of JSON; the response is one line
 * of JSON, followed by the requested data until the connection ends.
 */
import { formatIpv4Address, parseIpv4Address } from '@vmdhcp/dhcp-allocator/address';
import { isRecord } from '@vmdhcp/kube-runtime';
import { MOST_CAPTURE_PACKETS, MOST_CAPTURE_SECONDS } from './capture-bounds.js';

export type ControlRequest = ClientsRequest | CaptureRequest | ReleaseRequest;

export interface ClientsRequest {
  readonly ask: 'clients';
  /** Limits the output to this pool. */
  readonly pool?: string | undefined;
  /** Limits the output to this client, canonical. */
  readonly mac?: string | undefined;
}

export interface ReleaseRequest {
  readonly ask: 'release';
  /** The address whose lease ends, canonical. */
  readonly address: string;
  readonly pool?: undefined;
  readonly mac?: undefined;
}

export interface CaptureRequest {
  readonly ask: 'capture';
  readonly pool: string;
  /** Limits the capture to this client, canonical. */
  readonly mac?: string | undefined;
  /** The capture ends after this many seconds or packets; 1 to `MOST_CAPTURE_SECONDS` and `MOST_CAPTURE_PACKETS`. */
  readonly seconds: number;
  readonly packets: number;
}

export type ControlAnswer = { readonly ok: true } | { readonly ok: false; readonly problem: string };

/** Undefined if this version does not know the request. */
export function parseControlRequest(line: string): ControlRequest | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const [pool, mac] = [textOf(value['pool']), textOf(value['mac'])];
  if (value['ask'] === 'clients') return { ask: 'clients', pool, mac };
  if (value['ask'] === 'release') return releaseOf(textOf(value['address']));
  const [seconds, packets] = [countOf(value['seconds'], MOST_CAPTURE_SECONDS), countOf(value['packets'], MOST_CAPTURE_PACKETS)];
  if (value['ask'] !== 'capture' || pool === undefined || seconds === undefined || packets === undefined) return undefined;
  return { ask: 'capture', pool, mac, seconds, packets };
}

function releaseOf(text: string | undefined): ReleaseRequest | undefined {
  const address = parseIpv4Address(text ?? '');
  return address === undefined ? undefined : { ask: 'release', address: formatIpv4Address(address) };
}

/** Undefined if the response is not from an agent whose version this one knows. */
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

function countOf(value: unknown, most: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= most ? value : undefined;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
