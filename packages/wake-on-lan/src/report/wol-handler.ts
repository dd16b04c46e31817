import type { ReportOutcome, WakeReport } from './wake-report.js';

/** The MAC addresses of machines that may be woken, in lower case with colons. */
export interface WakeableAddresses {
  /** All addresses now whose machines a packet may wake. @param passwordSecret - `SECRET/KEY` of the password that it had; undefined: none was checked. */
  readonly snapshot: (passwordSecret?: string) => readonly string[];
  /** `SECRET/KEY` of the passwords for which the list is another one; absent: there are none. */
  readonly passwords?: () => ReadonlySet<string>;
  /** Calls the listener after changes, gathered. Returns how to end that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** What decides about reports, behind the server. */
export interface WolHandler {
  /** Never rejects; if it does, the report is answered as unavailable. */
  readonly report: (report: WakeReport) => Promise<ReportOutcome>;
  /** True: it leads, and knows which machines may be woken. */
  readonly isServing: () => boolean;
  /** host:port of another manager that leads; undefined: none is known, or this one leads. */
  readonly leader: () => string | undefined;
  readonly wakeable: WakeableAddresses;
}
