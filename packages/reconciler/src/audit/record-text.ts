/** Records as JSON objects: in the log, in ConfigMaps, and printed by `kubectl vmdhcp audit`. Fields are only ever added. */
import { formatIpv4Address, parseIpv4Address, parseMacAddress } from '@vmdhcp/dhcp-allocator';
import { formatTime, parseTime, readField, readText } from '@vmdhcp/kube-runtime';
import {
  type AssignedClient,
  type AssignmentRecord,
  BEGIN_REASONS,
  type BeginReason,
  END_REASONS,
  type EndReason,
  type Moment,
} from './assignment-record.js';

/** A record as JSON; times are RFC 3339 in seconds. A field is absent if it is unknown or empty. */
export interface RecordText {
  readonly serial: number;
  readonly address: string;
  readonly macAddress: string;
  /** `namespace/name`. */
  readonly virtualMachine?: string;
  readonly uid?: string;
  readonly interface?: string;
  /** `namespace/name`. */
  readonly network: string;
  /** The client had the address from this time at the latest. */
  readonly from: string;
  /** It did not have it before this time; absent if `from` is exact, or with `fromUnknown`, if nothing is known. */
  readonly fromNotBefore?: string;
  readonly fromUnknown?: true;
  readonly began: BeginReason;
  /** The client lost the address at this time at the latest; absent if it still has it. */
  readonly to?: string;
  /** It had it until this time; absent if `to` is exact. */
  readonly toNotBefore?: string;
  readonly ended?: EndReason;
}

/** The meaning of each field, for readers of the records. */
export const RECORD_FIELDS: Readonly<Record<keyof RecordText, string>> = {
  serial: 'a number that no other record of the pool has; a later assignment has a higher one',
  address: 'the IPv4 address',
  macAddress: 'the MAC address of the client',
  virtualMachine: '`namespace/name` of the virtual machine; absent: none, as of a reservation, or it is not known',
  uid: 'UID of the virtual machine; absent: not known',
  interface: 'name of the interface in the virtual machine; absent: not known',
  network: '`namespace/name` of the NetworkAttachmentDefinition',
  from: 'the client has the address since this time at the latest',
  fromNotBefore: 'it did not have it before this time; absent: `from` is exact, unless `fromUnknown` is true',
  fromUnknown: '`true`: nothing is known of the time before `from`',
  began: 'why it began',
  to: 'the client has the address no longer since this time at the latest; absent: it still has it',
  toNotBefore: 'it had it until this time; absent: `to` is exact',
  ended: 'why it ended',
};

/** The same record gives the same object, with its fields in the same order. */
export function toRecordText(record: AssignmentRecord): RecordText {
  const { serial, address, macAddress, virtualMachine, uid, network, from, began, end } = record;
  return {
    serial,
    address: formatIpv4Address(address),
    macAddress,
    ...(virtualMachine !== undefined && { virtualMachine }),
    ...(uid !== undefined && { uid }),
    ...(record.interface !== undefined && { interface: record.interface }),
    network,
    from: formatTime(from.notAfterMs),
    ...(from.notBeforeMs === Number.NEGATIVE_INFINITY && { fromUnknown: true as const }),
    ...(isBetween(from) && { fromNotBefore: formatTime(from.notBeforeMs) }),
    began,
    ...(end && {
      to: formatTime(end.to.notAfterMs),
      ...(isBetween(end.to) && { toNotBefore: formatTime(end.to.notBeforeMs) }),
      ended: end.reason,
    }),
  };
}

/** Undefined if it is not a record. Never throws. */
export function parseRecord(value: unknown): AssignmentRecord | undefined {
  const client = parseClient(value);
  const serial = readField(value, 'serial');
  const network = readText(value, 'network');
  const from = parseMoment(value, 'from', readField(value, 'fromUnknown') === true);
  const began = readText(value, 'began');
  const end = parseEnd(value);
  if (client === undefined || network === undefined || from === undefined) return undefined;
  if (!isSerial(serial) || !isBeginReason(began) || end === 'wrong') return undefined;
  return { ...client, serial, network, from, began, ...(end && { end }) };
}

function parseClient(value: unknown): AssignedClient | undefined {
  const address = parseIpv4Address(readText(value, 'address') ?? '');
  const macAddress = parseMacAddress(readText(value, 'macAddress') ?? '');
  if (address === undefined || macAddress === undefined) return undefined;
  const [virtualMachine, uid, interfaceName] = ['virtualMachine', 'uid', 'interface'].map((field) => readText(value, field));
  return { address, macAddress, virtualMachine, uid, interface: interfaceName };
}

function parseEnd(value: unknown): AssignmentRecord['end'] | 'wrong' {
  if (readText(value, 'to') === undefined) return undefined;
  const to = parseMoment(value, 'to', false);
  const reason = readText(value, 'ended');
  return to === undefined || !isEndReason(reason) ? 'wrong' : { to, reason };
}

function parseMoment(value: unknown, field: string, isUnknown: boolean): Moment | undefined {
  const notAfterMs = parseTime(readText(value, field));
  const earliest = readText(value, `${field}NotBefore`);
  const notBeforeMs = isUnknown ? Number.NEGATIVE_INFINITY : earliest === undefined ? notAfterMs : parseTime(earliest);
  return Number.isNaN(notAfterMs) || Number.isNaN(notBeforeMs) || notBeforeMs > notAfterMs
    ? undefined
    : { notBeforeMs, notAfterMs };
}

function isBetween({ notBeforeMs, notAfterMs }: Moment): boolean {
  return notBeforeMs !== notAfterMs && notBeforeMs !== Number.NEGATIVE_INFINITY;
}

function isSerial(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

function isBeginReason(text: string | undefined): text is BeginReason {
  return text !== undefined && Object.hasOwn(BEGIN_REASONS, text);
}

function isEndReason(text: string | undefined): text is EndReason {
  return text !== undefined && Object.hasOwn(END_REASONS, text);
}
