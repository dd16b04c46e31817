/** The server that transcripts are replayed against. */
export interface RecordingTarget {
  readonly url: string;
  readonly caCertificate?: string;
  /** Bearer tokens of the users `admin` and `limited`. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Forgets all versions but the current ones, as an etcd compaction does; with `everything` the watch cache's too. */
  compact(): Promise<void>;
  /** Advances the time of open watches: bookmarks are sent, and watches end when their time is over. */
  passTime(ms: number): void;
  stop(): Promise<void>;
}
