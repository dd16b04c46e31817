import type { ReportOutcome, WakeReport } from './wake-report.js';

/** The MAC addresses of wakeable machines, in lower case with colons. */
export interface WakeableAddresses {
  /**
   * All addresses whose machines a packet may wake now. @param passwordSecret - `SECRET/KEY` of the password in the packet;
   * undefined if none was checked.
   */
  readonly snapshot: (passwordSecret?: string) => readonly string[];
  /** `SECRET/KEY` of the passwords with a different list; absent if there are none. */
  readonly passwords?: () => ReadonlySet<string>;
  /** Calls the listener after changes, several at once. Returns a function that ends that. */
  readonly onChange: (listener: () => void) => () => void;
}

/** Decides about reports, behind the server. */
export interface WolHandler {
  /** Never rejects; if it does, the report is answered as unavailable. */
  readonly report: (report: WakeReport) => Promise<ReportOutcome>;
  /** True if it is leader, and knows the wakeable machines. */
  readonly isServing: () => boolean;
  /** host:port of another manager that is leader; undefined if none is known, or this one is leader. */
  readonly leader: () => string | undefined;
  readonly wakeable: WakeableAddresses;
}
