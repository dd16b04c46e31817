import { isRecord, type KubernetesObject, octetsOf } from '@vmdhcp/kube-runtime';
import { excludedMarks } from './excluded-marks.js';

/** The largest object that etcd stores. Source: --max-request-bytes, 1.5 MiB; a real API server accepts 43,760 entries of 36 octets. */
const MOST_OCTETS = 1_572_864;
/** Reserved for additions of the API server, such as managed fields, and for longer conditions. */
const SPARE_OCTETS = 16_384;
/** `"255.255.255.255":"02:00:00:00:00:01",` */
const ENTRY_OCTETS = 38;

/** The marks of the server and the router. */
const OTHER_MARKS = 2;

/**
 * How many clients fit into `status.ipv4.allocated` of this IPPool: about 40,000, fewer if the spec, quarantines or marks are large. With one more
 * entry the API server would refuse every patch that assigns an address.
 */
export function roomForClients({ status, ...object }: KubernetesObject): number {
  const { ipv4, ...rest } = isRecord(status) ? status : {};
  const { allocated: _, ...others } = isRecord(ipv4) ? ipv4 : {};
  const taken = octetsOf(JSON.stringify({ ...object, status: { ...rest, ipv4: others } }));
  const marks = ENTRY_OCTETS * (excludedMarks(object.spec).addresses.length + OTHER_MARKS);
  return Math.max(0, Math.floor((MOST_OCTETS - SPARE_OCTETS - taken - marks) / ENTRY_OCTETS));
}
