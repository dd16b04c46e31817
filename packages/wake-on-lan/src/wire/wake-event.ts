/** `wol.v1.WOLEvent`: a report on the wire. */
import type { WakeReport } from '../report/wake-report.js';
import { toMacAddress } from './mac-octets.js';

/** In the form of @grpc/proto-loader. */
export interface WakeEvent {
  readonly mac_address: string;
  readonly timestamp?: { readonly seconds: number; readonly nanos: number } | null;
  readonly node_name: string;
  readonly source_ip: string;
  readonly source_port: number;
  readonly packet_size: number;
  readonly age_ms: number;
  readonly password_secret: string;
}

/** `problems`: why a report is refused, each with the name of the field. */
export type DecodedWakeEvent =
  | { readonly ok: true; readonly report: WakeReport }
  | { readonly ok: false; readonly problems: readonly string[] };

const MOST_PORT = 65_535;
const MOST_PACKET_SIZE = 65_535;
/** The limits of the field. */
const MOST_AGE_MS = 4_294_967_295;
/** The name of a Kubernetes object, which is shown in logs and Events. */
const NODE_NAME = /^[A-Za-z0-9](?:[-._A-Za-z0-9]{0,251}[A-Za-z0-9])?$/;
/** Kubernetes names: a Secret, and a key of it. */
const PASSWORD_SECRET = /^[-.a-z0-9]{1,253}\/[-._A-Za-z0-9]{1,253}$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.{2,45}$)[0-9a-f]*:[0-9a-f:.]*$/i;
/** The range of Date. */
const MOST_TIME_MS = 8.64e15;

export function encodeWakeEvent(report: WakeReport): WakeEvent {
  const seconds = Math.floor(report.heardAtMs / 1000);
  return {
    mac_address: report.macAddress,
    timestamp: { seconds, nanos: Math.round((report.heardAtMs - seconds * 1000) * 1_000_000) },
    node_name: report.nodeName,
    source_ip: report.sender,
    source_port: report.senderPort,
    packet_size: report.packetSize,
    age_ms: Math.min(Math.max(0, Math.round(report.ageMs ?? 0)), MOST_AGE_MS),
    password_secret: report.passwordSecret ?? '',
  };
}

/** @param nowMs - used if the event has no time. */
export function decodeWakeEvent(event: WakeEvent, nowMs: number): DecodedWakeEvent {
  const macAddress = toMacAddress(event.mac_address);
  const heardAtMs = toTime(event.timestamp, nowMs);
  const problems = [
    ...(macAddress === undefined ? ['mac_address is not a MAC address, as in 02:00:5e:10:00:01'] : []),
    ...(heardAtMs === undefined ? ['timestamp is out of range'] : []),
    ...problemsOf(event),
  ];
  if (macAddress === undefined || heardAtMs === undefined || problems.length > 0) return { ok: false, problems };
  const { node_name: nodeName, source_ip: sender, source_port: senderPort, packet_size: packetSize, age_ms: ageMs } = event;
  const { password_secret: passwordSecret } = event;
  const report = { macAddress, nodeName, sender, senderPort, packetSize, heardAtMs, ageMs };
  return { ok: true, report: { ...report, ...(passwordSecret !== '' && { passwordSecret }) } };
}

function problemsOf(event: WakeEvent): readonly string[] {
  const checks: readonly (readonly [isRight: boolean, problem: string])[] = [
    [NODE_NAME.test(event.node_name), 'node_name is not the name of a node'],
    [isSender(event.source_ip), 'source_ip is not an IPv4, IPv6 or MAC address'],
    [event.source_port <= MOST_PORT, `source_port is more than ${MOST_PORT}`],
    [event.packet_size <= MOST_PACKET_SIZE, `packet_size is more than ${MOST_PACKET_SIZE}`],
    [
      isPasswordSecret(event.password_secret),
      'password_secret is not the name of a Secret and its key, as in wake-password/password',
    ],
  ];
  return checks.flatMap(([isRight, problem]) => (isRight ? [] : [problem]));
}

function isPasswordSecret(text: string): boolean {
  return text === '' || PASSWORD_SECRET.test(text);
}

function toTime(timestamp: WakeEvent['timestamp'], nowMs: number): number | undefined {
  if (timestamp === undefined || timestamp === null) return nowMs;
  const timeMs = Number(timestamp.seconds) * 1000 + Math.floor(timestamp.nanos / 1_000_000);
  return Math.abs(timeMs) <= MOST_TIME_MS ? timeMs : undefined;
}

function isSender(text: string): boolean {
  return IPV4.test(text) || toMacAddress(text) !== undefined || IPV6.test(text);
}
