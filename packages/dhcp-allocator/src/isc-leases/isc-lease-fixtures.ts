import fc from 'fast-check';
import { ISC_BINDING_STATES, type IscLease } from './isc-lease.js';

/** A file that dhcpd 4.4.3 wrote, with parts that are not imported. */
export const DHCPD_FILE = String.raw`# The format of this file is documented in the dhcpd.leases(5) manual page.
# This lease file was written by isc-dhcp-4.4.3-P1

# authoring-byte-order entry is generated, DO NOT DELETE
authoring-byte-order little-endian;

server-duid "\000\001\000\001.\221\022\263\002\000\000\000\000\001";

lease 192.168.48.10 {
  starts 1 2026/11/23 16:10:00;
  ends 1 2026/11/23 16:20:00;
  binding state active;
  hardware ethernet 02:00:00:00:48:01;
  uid "\001\002\000\000\000H\001";
}
lease 192.168.48.11 {
  starts 1 2026/11/23 16:30:00;
  ends 1 2026/11/23 16:40:00;
  cltt 1 2026/11/23 16:30:00;
  binding state active;
  next binding state free;
  rewind binding state free;
  hardware ethernet 02:00:00:00:48:02;
  uid "\377\000H\\\000\001";
  set vendor-class-identifier = "udhcp 1.35.0";
  option agent.circuit-id "}";
  on expiry {
    log (info, "lease }");
  }
}
lease 192.168.48.10 {
  starts 1 2026/11/23 16:10:00;
  ends 1 2026/11/23 16:20:00;
  tstp 1 2026/11/23 16:20:00;
  cltt 1 2026/11/23 16:10:00;
  binding state free;
  hardware ethernet 02:00:00:00:48:01;
  uid "\001\002\000\000\000H\001";
  client-hostname "vm-a";
}
lease 192.168.48.12 {
  ends never;
  binding state abandoned;
  next binding state free;
}

failover peer "partner" state {
  my state normal at 1 2026/11/23 16:00:00;
  partner state normal at 1 2026/11/23 16:00:00;
}
ia-na "\001\000\000\000" {
  cltt 1 2026/11/23 16:00:00;
  iaaddr 2001:db8::1 {
    binding state active;
    ends 1 2026/11/23 16:20:00;
  }
}
host made-by-omapi {
  dynamic;
  hardware ethernet 02:00:00:00:48:09;
}
`;

const time = fc.oneof(
  fc.nat(4_000_000_000).map((seconds) => 1_000 * seconds),
  fc.constant(Number.POSITIVE_INFINITY),
);
const octet = fc.nat(255).map((value) => value.toString(16).padStart(2, '0'));
const state = fc.constantFrom(...ISC_BINDING_STATES);
const hostname = fc.array(fc.nat(255), { minLength: 1, maxLength: 30 }).map((codes) => String.fromCharCode(...codes));

const anyIscLease: fc.Arbitrary<IscLease> = fc.record(
  {
    ...{ address: fc.nat(0xffffffff), state, nextState: state, rewindState: state },
    ...{ startsAtMs: time, endsAtMs: time, tstpMs: time, tsfpMs: time, atsfpMs: time, clientLastSeenAtMs: time },
    macAddress: fc.array(octet, { minLength: 6, maxLength: 6 }).map((octets) => octets.join(':')),
    uid: fc.array(octet, { minLength: 1, maxLength: 40 }).map((octets) => octets.join('')),
    hostname,
  },
  { requiredKeys: ['address', 'state'] },
);

/** Leases of different addresses. */
export const anyIscLeases = fc.uniqueArray(anyIscLease, { selector: ({ address }) => address, maxLength: 8 });
